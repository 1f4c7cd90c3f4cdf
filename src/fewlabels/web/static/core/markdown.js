// Markdown as elements. Only what is listed here is made: no HTML of the writer's, no images, links to the web alone.

import { el } from "./dom.js";

const inline = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\*(.+?)\*|(?<!\w)_(.+?)_(?!\w)|\[([^\]]+)\]\(([^)\s]+)\)/;

/** Bold, italics, code and links in a line. */
function spans(text) {
  const parts = [];
  let rest = text;
  for (let found = inline.exec(rest); found; found = inline.exec(rest)) {
    if (found.index) parts.push(rest.slice(0, found.index));
    const [all, , code, bold, alsoBold, slanted, alsoSlanted, name, address] = found;
    if (code !== undefined) parts.push(el("code", {}, code));
    else if (bold ?? alsoBold) parts.push(el("strong", {}, spans(bold ?? alsoBold)));
    else if (slanted ?? alsoSlanted) parts.push(el("em", {}, spans(slanted ?? alsoSlanted)));
    else if (/^https?:\/\//i.test(address)) parts.push(el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, name));
    else parts.push(name);
    rest = rest.slice(found.index + all.length);
  }
  return [...parts, rest].filter((part) => part !== "");
}

const kinds = [
  ["heading", /^(#{1,6})\s+(.*?)\s*#*$/], ["rule", /^\s*([-*_])(\s*\1){2,}\s*$/], ["bullet", /^\s*[-*+]\s+(.*)$/],
  ["number", /^\s*\d+[.)]\s+(.*)$/], ["quote", /^\s*>\s?(.*)$/], ["row", /^\s*\|(.*)\|\s*$/], ["nothing", /^\s*$/],
];

function kindOf(line) {
  for (const [kind, pattern] of kinds) {
    const found = pattern.exec(line);
    if (found) return { kind, text: found.at(-1) ?? "", level: found[1]?.length };
  }
  return { kind: "text", text: line.trim() };
}

const cells = (row) => row.split("|").map((cell) => cell.trim());

function table(rows) {
  const [head = [], ...body] = rows.map(cells).filter((row) => !row.every((cell) => /^:?-+:?$/.test(cell)));
  return el("table", {}, el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, spans(cell))))),
    el("tbody", {}, body.map((row) => el("tr", {}, row.map((cell) => el("td", {}, spans(cell)))))));
}

const make = {
  text: (lines) => el("p", {}, spans(lines.join(" "))),
  bullet: (lines) => el("ul", {}, lines.map((line) => el("li", {}, spans(line)))),
  number: (lines) => el("ol", {}, lines.map((line) => el("li", {}, spans(line)))),
  quote: (lines) => el("blockquote", {}, spans(lines.join(" "))),
  row: table,
};

/** The elements of a text in Markdown. */
export function markdown(text) {
  const made = [];
  let group = null; // {kind, lines}
  const finish = () => { if (group) made.push(make[group.kind](group.lines)); group = null; };
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  for (let i = 0; i < lines.length; i++) {
    if (/^\s*```/.test(lines[i])) {
      finish();
      const code = [];
      while (++i < lines.length && !/^\s*```/.test(lines[i])) code.push(lines[i]);
      made.push(el("pre", { tabindex: "0" }, code.join("\n")));
      continue;
    }
    const { kind, text: said, level } = kindOf(lines[i]);
    if (kind === "text" && group && ["bullet", "number"].includes(group.kind) && /^\s/.test(lines[i])) {
      group.lines.push(`${group.lines.pop()} ${said}`); // the item goes on
    } else if (kind in make) {
      if (group?.kind !== kind) { finish(); group = { kind, lines: [] }; }
      group.lines.push(said);
    } else {
      finish();
      if (kind === "heading") made.push(el(`h${Math.min(6, level + 2)}`, {}, spans(said)));
      if (kind === "rule") made.push(el("hr"));
    }
  }
  finish();
  return made;
}
