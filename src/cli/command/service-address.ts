/** The address of a running service, for commands that call its API. */
import { InvalidArgumentError } from "commander";

export const LOCAL_SERVICE = "http://127.0.0.1:8080";

/** @throws InvalidArgumentError for anything but an address that begins with http:// or https:// */
export function readServiceUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new InvalidArgumentError(`The address of a service is such as ${LOCAL_SERVICE}.`);
  }
  return url;
}
