/**
 * Distinguishes programs from people among the requests for pixels and links. Events of programs are recorded with the
 * sign by which they were recognized, and counted separately. A person who counts as a program costs one event;
 * programs that count as people make the figures worthless. So every request with a sign of a program counts as one.
 */
import { isbot } from "isbot";

/** The sign of a program. */
export type MachineSign =
  /** The User-Agent names a program, or is empty. */
  | "agent"
  /** A HEAD request. */
  | "head"
  /** The browser prefetched the address. */
  | "prefetch"
  /** The event came before the delivery, from a gateway that scans mail before it accepts it. */
  | "early"
  /** Several links of one mail were followed at the same time. */
  | "sweep";

/**
 * Image proxies of Gmail, Yahoo and Outlook.com: isbot lists them as bots, but they fetch an image only when a person
 * opens the mail.
 */
const proxies = /GoogleImageProxy|YahooMailProxy|OutlookMobileImageProxy/;
/**
 * The whole User-Agent of Apple's privacy proxy, which fetches the images of every mail, read or not; and the names of mail
 * gateways that isbot does not know.
 */
const scanners =
  /^Mozilla\/5\.0$|barracuda|mimecast|proofpoint|safelinks|trendmicro|fireeye|forcepoint|sophos|symantec|cisco ironport|urldefense/i;

export interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The sign in a single request; null if there is none. */
export function machineSign({ method, headers }: Request): MachineSign | null {
  const agent = String(headers["user-agent"] ?? "").trim();
  if (!proxies.test(agent) && (agent === "" || scanners.test(agent) || isbot(agent))) return "agent";
  if (method === "HEAD") return "head";
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]];
  return /prefetch|prerender|preview/i.test(purposes.join()) ? "prefetch" : null;
}
