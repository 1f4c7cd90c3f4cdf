// Numbers as people read them.

const whole = new Intl.NumberFormat("en");

export const count = (number) => whole.format(number);

/** A share as a percentage: one decimal where it matters, never "0%" for what is not zero. */
export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value > 0 && value < 0.1) return "<0.1%";
  return `${value < 10 ? trim(value.toFixed(1)) : Math.round(value)}%`;
}

/** A chance: never rounded up to certainty. */
export function chance(share) {
  if (share > 0.99 && share < 1) return ">99%";
  if (share > 0 && share < 0.01) return "<1%";
  return `${Math.round(share * 100)}%`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** A moment as people say it: the time today, else the day and the time. */
export function when(at) {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return at;
  return then.toDateString() === new Date().toDateString() ? clock.format(then) : `${day.format(then)} ${clock.format(then)}`;
}

/** An error next to one it is compared with: always one decimal, so that they line up. */
export const fine = (share) => (Number.isFinite(share) ? `${(share * 100).toFixed(1)}%` : "–");

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

const trim = (digits) => digits.replace(/\.0$/, "");
