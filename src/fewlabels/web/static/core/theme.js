// Dark or light: the system's setting, unless the person chose otherwise here.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  // Storage throws where it is forbidden; the page works without it.
  const stored = () => { try { return localStorage.getItem("fewlabels.theme"); } catch { return null; } };
  const tell = () => dispatchEvent(new Event("themechange"));
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  if (["dark", "light"].includes(stored())) root.dataset.theme = stored();
  system.addEventListener("change", tell);

  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("fewlabels.theme", root.dataset.theme); } catch { /* kept for this visit only */ }
      tell();
    });
  });
})();
