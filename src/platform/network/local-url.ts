/** The URL of the service for a browser on this machine. */
import type { Config } from "#platform/config/config.ts";

/** @param port of the listener, if PORT is 0 (any free port) */
export function localUrl({ HOST, PORT }: Pick<Config, "HOST" | "PORT">, port: number = PORT): string {
  const isAny = HOST === "0.0.0.0" || HOST === "::";
  const host = isAny ? "127.0.0.1" : HOST.includes(":") ? `[${HOST}]` : HOST;
  return `http://${host}:${port}`;
}
