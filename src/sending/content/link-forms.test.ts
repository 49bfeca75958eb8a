import { expect, test } from "vitest";
import { trackingScene, visit } from "#test/support/tracking-visits.ts";
import { compileContent } from "./compile.ts";
import { renderContent, sampleLinks, sampleValues } from "./render.ts";

const { oneMail } = await trackingScene();

const compiled = (html: string) => {
  const given = { subject: "Hello", html_content: html, text_content: "Hello" };
  const options = { tracksOpens: false, tracksClicks: true, footer: null, timezone: "UTC" };
  const compilation = compileContent(given, { ...options, fields: new Set() });
  return compilation.ok ? compilation.content : expect.fail(compilation.faults[0]?.message);
};
const tracked = (index: number) => `https://t.test/${index}`;

/** What is written, what is sent, and where its tracked links lead (`ADDRESS` is the recipient's, encoded). */
const forms: readonly (readonly [string, string, string, readonly string[]])[] = [
  [
    "references",
    '<a class=x href="https://x.test/?a=1&amp;b=2&#38;c=3" >a</a>',
    '<a class=x href="https://t.test/0" >a</a>',
    ["https://x.test/?a=1&b=2&c=3"],
  ],
  [
    "bare ampersands",
    "<A\nHREF='https://x.test/?a=1&b=2&copy=3'>a</A>",
    "<A\nHREF='https://t.test/0'>a</A>",
    ["https://x.test/?a=1&b=2&copy=3"],
  ],
  [
    "no quotes",
    "<a href=https://x.test/a?b=c target=_blank>a</a>",
    "<a href=https://t.test/0 target=_blank>a</a>",
    ["https://x.test/a?b=c"],
  ],
  [
    "merge tags",
    '<a href="https://x.test/{{ email }}?x=%7Ba%7D">a</a>',
    '<a href="https://t.test/0">a</a>',
    ["https://x.test/ADDRESS?x=%7Ba%7D"],
  ],
  [
    "a host that a merge tag decides",
    '<a href="https://{{ list_name }}.x.test/">a</a>',
    '<a href="https://News.x.test/">a</a>',
    [],
  ],
  [
    "mailto and tel",
    '<a href="mailto:a@x.test?subject=a%20b&amp;body=c">a</a><a href="tel:+4930">b</a>',
    '<a href="mailto:a@x.test?subject=a%20b&amp;body=c">a</a><a href="tel:+4930">b</a>',
    [],
  ],
  ["cid", '<a href="cid:logo"><img src="cid:logo"></a>', '<a href="cid:logo"><img src="cid:logo"></a>', []],
  ["anchors", '<a href="#top">a</a><a name=top></a>', '<a href="#top">a</a><a name=top></a>', []],
  [
    "conditional comments",
    '<!--[if mso]><a href="https://x.test/o">a</a><![endif]--><!--[if !mso]><!--><a href="https://x.test/b">b</a><!--<![endif]-->',
    '<!--[if mso]><a href="https://x.test/o">a</a><![endif]--><!--[if !mso]><!--><a href="https://t.test/0">b</a><!--<![endif]-->',
    ["https://x.test/b"],
  ],
  [
    "base",
    '<base href="https://x.test/dir/"><a href="page">a</a><a href="//x.test/b">b</a><a href="https://x.test/c">c</a>',
    '<base href="https://x.test/dir/"><a href="page">a</a><a href="//x.test/b">b</a><a href="https://t.test/0">c</a>',
    ["https://x.test/c"],
  ],
  [
    "other scripts",
    '<a title="ü" href="https://bücher.test/ä?q=ü#ö">a</a>',
    '<a title="ü" href="https://t.test/0">a</a>',
    ["https://xn--bcher-kva.test/%C3%A4?q=%C3%BC#%C3%B6"],
  ],
  [
    "srcset",
    '<img src="https://x.test/1" srcset="https://x.test/1 1x, https://x.test/2 2x"><area href=" https://x.test/a b ">',
    '<img src="https://x.test/1" srcset="https://x.test/1 1x, https://x.test/2 2x"><area href="https://t.test/0">',
    ["https://x.test/a%20b"],
  ],
];

test.each(forms)(
  "%s: every other byte stays, and the link leads where it led",
  async (_what, html, sent, targets) => {
    const content = compiled(html);
    const mail = renderContent(content, sampleValues, { ...sampleLinks, tracked });
    expect(mail).toMatchObject({ ok: true, html: sent });

    const { links, email } = await oneMail({ html, urls: content.facts.links.map(({ url }) => url) });
    const own = targets.map((target) => target.replace("ADDRESS", encodeURIComponent(email)));
    const answers = await Promise.all(
      // A link with merge tags carries its target.
      content.facts.links.map(({ personal }, at) => visit(links.tracked(at, own[at] ?? "", personal))),
    );
    expect(answers.map(({ status, headers }) => [status, headers.get("location")])).toEqual(
      own.map((target) => [302, target]),
    );
  },
);
