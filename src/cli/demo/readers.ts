/** The recipients of the sample campaign: opens, clicks and unsubscribes, by people and by mail proxies. */
import type { DemoApi } from "./api-client.ts";
import { type Captured, captured } from "./send-newsletter.ts";

/** How many mails are opened at the same time. */
const READERS = 16;
const person = { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
/** The User-Agent of Apple Mail's privacy proxy, which fetches the images of unopened mails. */
const proxy = { "User-Agent": "Mozilla/5.0" };

/** The actions of the recipients, as the campaign's counters should show them. */
export interface Done {
  opens: number;
  machineOpens: number;
  clicks: number;
  clickers: number;
  unsubscribes: number;
}

/** Of each hundred recipients 42 open the mail, a proxy opens it for 10, 13 click (4 of them twice), and 1 unsubscribes. */
export async function readMails(api: DemoApi, campaign: string): Promise<Done> {
  const { askAll } = api;
  const messages = await askAll(`/campaigns/${campaign}/messages`, "messages");
  const delivered = messages.filter(({ status }) => status === "delivered").map(({ id }) => String(id));
  const done: Done = { opens: 0, machineOpens: 0, clicks: 0, clickers: 0, unsubscribes: 0 };
  let next = 0;
  const readOn = async () => {
    for (let at = next++; at < delivered.length; at = next++) {
      const share = at % 100;
      if (share >= 53) continue;
      const mail = await captured(api, delivered[at] ?? "");
      if (share < 42) await open(mail, person).then(() => done.opens++);
      else if (share < 52) await open(mail, proxy).then(() => done.machineOpens++);
      else await unsubscribe(mail).then(() => done.unsubscribes++);
      const links = share < 4 ? [0, 1] : share < 13 ? [1] : [];
      for (const index of links) await click(mail, index).then(() => done.clicks++);
      if (links.length > 0) done.clickers++;
    }
  };
  await Promise.all(Array.from({ length: READERS }, readOn));
  return done;
}

async function open({ html }: Captured, headers: Readonly<Record<string, string>>): Promise<void> {
  await visit(/https?:\/\/[^"\s]+\/o\/[\w-]+\.gif/.exec(html ?? "")?.[0], 200, { headers });
}

async function click({ html }: Captured, index: number): Promise<void> {
  const link = new RegExp(String.raw`https?://[^"\s]+/c/[\w-]+/${index}(?:/[\w-]+)?(?=")`).exec(
    html ?? "",
  )?.[0];
  await visit(link, 302, { headers: person, redirect: "manual" });
}

/** One click in the mail program (RFC 8058). */
async function unsubscribe({ headers }: Captured): Promise<void> {
  const header = headers.find(({ name }) => name === "List-Unsubscribe")?.value;
  const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  await visit(/<(https?:[^>]+)>/.exec(header ?? "")?.[1], 200, { method: "POST", headers: person, body });
}

async function visit(link: string | undefined, wanted: number, how: RequestInit): Promise<void> {
  if (link === undefined) throw new Error("a mail lacks a link that it should have");
  const { status, body } = await fetch(link, how);
  await body?.cancel();
  if (status !== wanted) throw new Error(`${link} answered ${status}`);
}
