// A colour for each class, the same in light and dark; beyond the palette a second mark tells classes apart.
// The ten came from a search for colours that stay apart with normal sight, without red and without green, at a
// contrast of at least 3:1 with every background of both themes; tests/web/test_palette.py checks it. The first few are
// the farthest apart.

export const palette = ["#484efc", "#c61866", "#0ca200", "#3c90c6", "#a824c6", "#965a00", "#fc2aba", "#c07878", "#8a78fc", "#06727e"];
const marks = 5; // full; with a hole; with a gap across, down, aslant

const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

let given = []; // class number -> number of its colour, where they differ

/** Which colour each class has, by its place among the classes. */
export const setColours = (numbers) => { given = numbers; };

const chosen = (number) => given[number] ?? number;

/** For the canvas; what has no class is grey. */
export const colourNow = (number) => (number < 0 ? (isDark() ? "#5d6675" : "#b4bac4") : palette[chosen(number) % palette.length]);

/** Which mark a class has besides its colour. */
export const markOf = (number) => (number < 0 ? 0 : Math.floor(chosen(number) / palette.length) % marks);

/** Give an element the colour and the mark of a class. */
export const paint = (element, number) => (number < 0 ? painted(element, "#8a93a3", 0) : paintWith(element, chosen(number)));

/** The same with a colour of the palette, whichever class has it. */
export const paintWith = (element, number) => painted(element, palette[number % palette.length], Math.floor(number / palette.length) % marks);

function painted(element, colour, mark) {
  element.style.setProperty("--colour", colour);
  if (mark) element.dataset.mark = mark;
  else delete element.dataset.mark;
  return element;
}
