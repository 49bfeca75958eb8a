/** The pages of the local inbox: the list, and one message. */
import type { FastifyReply } from "fastify";
import { decodeWords } from "postal-mime";
import { type Html, html, pageLayout, sendPage } from "#platform/http/response/html-page.ts";
import type { pagination } from "#platform/http/response/pagination.ts";
import type { CapturedMessage } from "./parse-captured-message.ts";
import type { CapturedRow } from "./store.ts";

const layout = pageLayout(
  `
:root { --line: #d9dde2; --hover: #0b5cad0d }
@media (prefers-color-scheme: dark) { :root { --line: #33393f; --hover: #7cb8f514 } }
body { font-size: 1rem }
a { color: var(--accent) }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem .75rem; max-width: 68rem; margin: 0 auto; padding: 1.5rem 1.5rem 1rem }
header a { font-size: 1.125rem; font-weight: 700; color: inherit; text-decoration: none }
main { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem 3rem }
main > * { margin: 0 0 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper); overflow: hidden }
h1 { margin: 0; padding: 1rem 1.25rem .25rem; font-size: 1.375rem }
section p { padding: .25rem 1.25rem 1.25rem }
.list { padding: 0; list-style: none }
.list li + li { border-top: 1px solid var(--line) }
.list a { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 1.5rem; align-items: baseline; padding: .625rem 1.25rem; color: inherit; text-decoration: none }
.list a:hover { background: var(--hover) }
.list a:focus-visible { outline-offset: -3px; border-radius: .75rem }
.list b, .list span { overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
.list b { font-weight: 600 }
.list span { grid-column: 1 / -1 }
time { color: var(--soft); font-size: .9375rem; font-variant-numeric: tabular-nums; white-space: nowrap }
main > nav { display: grid; grid-template-columns: 1fr auto 1fr; border: 0; background: none; font-size: .9375rem }
nav :last-child { text-align: end }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); align-items: baseline; gap: .375rem 1.5rem; margin: 0; padding: .75rem 1.25rem 1.25rem }
dt { color: var(--soft) }
dd { margin: 0 }
.files { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0; padding: 0; list-style: none }
.files a { display: block; padding: .125rem .75rem; border: 1px solid var(--line); border-radius: 1rem; text-decoration: none }
.files a:hover { background: var(--hover) }
summary { padding: .75rem 1.25rem; font-weight: 600; cursor: pointer }
summary:hover { background: var(--hover) }
summary:focus-visible { outline-offset: -3px; border-radius: .75rem }
[open] > summary { border-bottom: 1px solid var(--line) }
iframe { display: block; width: 100%; height: 34rem; max-height: 80vh; border: 0; background: #fff; color-scheme: light; resize: vertical; overflow: auto }
pre { margin: 0; padding: 1rem 1.25rem; white-space: pre-wrap; font: .875rem/1.6 ui-monospace, monospace }
details .facts { font: .8125rem/1.6 ui-monospace, monospace }
@media (max-width: 40rem) {
  header, main { padding-inline: 1rem }
  .list a { grid-template-columns: minmax(0, 1fr) }
  .facts { grid-template-columns: minmax(0, 1fr); gap: 0 }
  dd + dt { margin-top: .5rem }
}
`,
  (_title, body) => html`<header>
<a href="/inbox">Posthaste inbox</a>
<span class="soft">Capture mode: nothing leaves this machine</span>
</header>
<main>
${body}
</main>`,
  { sources: ["frame-src 'self'"] },
);

/** The list, newest first. */
export function sendInbox(
  reply: FastifyReply,
  rows: readonly CapturedRow[],
  { page, limit, total, total_pages }: ReturnType<typeof pagination>,
): FastifyReply {
  const link = (to: number, text: string) => html`<a href="/inbox?page=${to}&limit=${limit}">${text}</a>`;
  const first = (page - 1) * limit + 1;
  const shown = rows.length > 0 ? `${first} to ${first + rows.length - 1} of ${total}` : `0 of ${total}`;
  const body = html`${rows.length > 0 ? html`<ol class="list">${rows.map(listItem)}</ol>` : noMessages}
<nav>
<span>${page > 1 ? link(Math.min(page - 1, Math.max(total_pages, 1)), "← Newer") : ""}</span>
<span class="soft">${shown}</span>
<span>${page < total_pages ? link(page + 1, "Older →") : ""}</span>
</nav>`;
  return sendPage(reply, 200, "Inbox", body, layout);
}

const noMessages = html`<section>
<h1>No messages</h1>
<p>Messages sent through the API appear within a second.</p>
</section>`;

function listItem({ id, from, to, subject, received_at }: CapturedRow): Html {
  return html`<li><a href="/inbox/${id}">
<b>${subject}</b>
${moment(received_at)}
<span class="soft">${from} → ${to}</span>
</a></li>
`;
}

/** One message with its headers, parts and attachments. */
export function sendMessage(
  reply: FastifyReply,
  row: CapturedRow & { readonly mail_from: string; readonly raw: Buffer },
  message: CapturedMessage,
): FastifyReply {
  const { headers, text, html: markup, attachments } = message;
  const place = `/inbox/${row.id}`;
  const spoken = (name: string) => headers.find((header) => header.name.toLowerCase() === name)?.value;
  const facts: [string, string | Html][] = [
    ["From", decodeWords(spoken("from") ?? row.from)],
    ["To", decodeWords(spoken("to") ?? row.to)],
    ["Envelope", `${row.mail_from} → ${row.to}`],
    ["Received", moment(row.received_at)],
    ["Source", html`<a href="${place}/source">${sizeOf(row.raw.length)} of plain text</a>`],
  ];
  if (attachments.length > 0) facts.push(["Attachments", files(place, attachments)]);
  const parts: Html[] = [];
  if (markup !== null) {
    const frame = html`<iframe src="${place}/html" title="HTML part" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`;
    parts.push(fold("HTML", frame, true));
  }
  if (text !== null) parts.push(fold("Text", html`<pre>${text}</pre>`, markup === null));
  if (headers.length > 0)
    parts.push(fold("Headers", factList(headers.map(({ name, value }) => [name, value]))));
  const body = html`<section>
<h1>${row.subject}</h1>
${factList(facts)}
</section>
${parts}`;
  return sendPage(reply, 200, row.subject, body, layout);
}

export function sendNoMessage(reply: FastifyReply): FastifyReply {
  const body = html`<section>
<h1>No such message</h1>
<p>The inbox keeps the newest messages; this one may have been removed.</p>
</section>`;
  return sendPage(reply, 404, "No such message", body, layout);
}

function files(place: string, attachments: CapturedMessage["attachments"]): Html {
  const items = attachments.map(
    ({ filename, content }, index) =>
      html`<li><a href="${place}/attachments/${index + 1}">${filename} <span class="soft">${sizeOf(content.length)}</span></a></li>`,
  );
  return html`<ul class="files">${items}</ul>`;
}

function factList(facts: readonly (readonly [string, string | Html])[]): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function fold(title: string, content: Html, isOpen = false): Html {
  const summary = html`<summary>${title}</summary>${content}`;
  return isOpen ? html`<details open>${summary}</details>` : html`<details>${summary}</details>`;
}

function moment(time: Date): Html {
  const iso = time.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

function sizeOf(octets: number): string {
  return octets < 10_000 ? `${octets} bytes` : `${Math.round(octets / 1000).toLocaleString("en")} kB`;
}
