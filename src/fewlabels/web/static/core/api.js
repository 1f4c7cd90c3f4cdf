// Talking to the server: one function to read, one to write, one kind of error.

import { state } from "./state.js";

export class ServerError extends Error {
  /** status 0: no answer came at all. */
  constructor(status, detail, offer = null) {
    super(detail);
    this.status = status;
    this.offer = offer; // what can be done about it
  }
  /** Whether the same request may well work a little later. */
  get passing() {
    return this.status === 0 || this.status >= 500;
  }
}

const unreachable = "The server cannot be reached";

/** Relative to the page, which may be served under a prefix; a server that labels other data by now will refuse. */
export function address(path) {
  const data = state.session ? `${path.includes("?") ? "&" : "?"}data=${state.session.fingerprint}` : "";
  return path.slice(1) + data;
}

async function exchange(path, options) {
  let response;
  try {
    response = await fetch(address(path), options);
  } catch {
    throw new ServerError(0, unreachable);
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    if (response.ok) throw new ServerError(0, `${unreachable}: its reply was cut off`);
  }
  if (response.ok) return body;
  const detail = typeof body?.detail === "string" ? body.detail : `The server refused (${response.status}).`;
  throw new ServerError(response.status, detail, body?.offer);
}

export const get = (path) => exchange(path, { headers: { Accept: "application/json" } });

export const post = (path, body) =>
  exchange(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** A fresh name for a request, so that the server counts it once however often it is sent. */
export function freshKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // randomUUID is missing on plain http beyond localhost; getRandomValues is not.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
