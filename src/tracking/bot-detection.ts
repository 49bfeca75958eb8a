/**
 * Who opens a mail or follows its links: a person, or a program that looks at mail for one. Programs are recorded, with
 * what gave them away, and counted apart; taking a person for a program loses a figure, the other way round makes
 * figures worthless, so what is said of a request is believed.
 */
import { isbot } from "isbot";

/** What gave a program away. */
export type MachineSign =
  /** It calls itself one, or nothing at all. */
  | "agent"
  /** It asked for the headers only. */
  | "head"
  /** A browser fetched it in case somebody might want it. */
  | "prefetch"
  /** It came before the mail was delivered: from a gateway that looks into mail before it takes it. */
  | "early"
  /** It followed several links of one mail at once. */
  | "sweep";

/** Image proxies fetch when a person opens the mail, unlike the scanners among the bots (Gmail, Yahoo, Outlook.com). */
const proxies = /GoogleImageProxy|YahooMailProxy|OutlookMobileImageProxy/;
/**
 * All that Apple's privacy proxy says of itself, which fetches the images of every mail, read or not; and what mail
 * gateways call themselves that isbot does not know.
 */
const scanners =
  /^Mozilla\/5\.0$|barracuda|mimecast|proofpoint|safelinks|trendmicro|fireeye|forcepoint|sophos|symantec|cisco ironport|urldefense/i;

export interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What a request by itself tells; null for a person, as far as can be seen. */
export function machineSign({ method, headers }: Request): MachineSign | null {
  const agent = String(headers["user-agent"] ?? "").trim();
  if (!proxies.test(agent) && (agent === "" || scanners.test(agent) || isbot(agent))) return "agent";
  if (method === "HEAD") return "head";
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]];
  return /prefetch|prerender|preview/i.test(purposes.join()) ? "prefetch" : null;
}
