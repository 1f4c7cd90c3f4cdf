// A colour for each class.
// The ten came from a search for colours that stay apart with normal sight and with the three kinds of colour
// blindness, at a contrast of at least 3:1 with a card. The dark theme's seventh was then changed by hand: it was
// what the yellow looks like when doubt fades it.

const light = ["#508ff9", "#989912", "#7f180e", "#d462b2", "#408770", "#8347cf", "#8d5901", "#425e8b", "#1e20a3", "#552660"];
const dark = ["#6ca1f8", "#ebd229", "#db3a29", "#d05faf", "#5bfdb3", "#8968f4", "#c39553", "#bcc2fb", "#04896a", "#f196a4"];

const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

let given = []; // class number -> number of its colour, where they differ

/** Which colour each class has, by its place among the classes. */
export const setColours = (numbers) => { given = numbers; };

/** The pair of a class for light and dark. */
const pair = (number) => colour(given[number] ?? number);

/** Beyond ten the hue turns by the golden angle, so that near numbers differ most. */
function colour(number) {
  if (number < light.length) return [light[number], dark[number]];
  const hue = Math.round((number * 137.508 + 20) % 360);
  const step = number % 3;
  return [`hsl(${hue} 60% ${32 + 7 * step}%)`, `hsl(${hue} 65% ${60 + 8 * step}%)`];
}

/** For the canvas, which takes one colour. */
export const colourNow = (number) => (number < 0 ? (isDark() ? "#5d6675" : "#b4bac4") : pair(number)[isDark() ? 1 : 0]);

/** For CSS, which follows the theme by itself. */
export const paint = (element, number) => paintIn(element, number < 0 ? ["#8a93a3", "#8a93a3"] : pair(number));

/** The same with a colour of the palette, whichever class has it. */
export const paintWith = (element, number) => paintIn(element, colour(number));

function paintIn(element, [day, night]) {
  element.style.setProperty("--colour", `light-dark(${day}, ${night})`);
  return element;
}
