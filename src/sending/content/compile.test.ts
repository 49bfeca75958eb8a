import { describe, expect, test } from "vitest";
import { headerTextFault } from "#mail/address.ts";
import { mostMarkup } from "#mail/html/tag-positions.ts";
import { costOf } from "#test/support/cost.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";
import { type ContentOptions, compileContent } from "./compile.ts";
import { footerOf } from "./load-footer.ts";
import type { CampaignContent } from "./parse-content.ts";
import { type RecipientValues, renderContent } from "./render.ts";

const options: ContentOptions = {
  tracksOpens: true,
  tracksClicks: true,
  footer: footerOf({ language: "en", fields: [] }),
  fields: new Set(["city", "interests"]),
  timezone: "UTC",
};
const ada: RecipientValues = {
  email: "ada@example.com",
  first_name: "Ada",
  last_name: null,
  custom_fields: { city: "London", interests: ["tea", "<maths>"] },
  list_name: "News",
  campaign_name: "Spring",
};
const links: MailLinks = {
  unsubscribe: "https://t.test/u/1",
  view: "https://t.test/v/1",
  pixel: "https://t.test/o/1.gif",
  tracked: (index) => `https://t.test/c/1/${index}`,
};
const wayOut = '<a href="{{ unsubscribe_url }}">bye</a>';

function compiled(content: Partial<CampaignContent>, changed: Partial<ContentOptions> = {}) {
  const given = { subject: "News", html_content: null, text_content: null, ...content };
  const result = compileContent(given, { ...options, ...changed });
  if (!result.ok) throw new Error(result.faults[0]?.message);
  return result;
}

function rendered(content: Partial<CampaignContent>, changed: Partial<ContentOptions> = {}, values = ada) {
  const mail = renderContent(compiled(content, changed).content, values, links);
  if (!mail.ok) throw new Error(mail.fault.message);
  return mail;
}

describe("a campaign's mail", () => {
  test("is its templates with the recipient's values, a text part, an unsubscribe link, and tracked links", () => {
    const html_content =
      '<html><body><p>Hello {{ first_name | default: "you" }} {{ last_name }} of {{ city }},</p>\n' +
      '<p><a href="https://shop.test/?a=1&amp;c={{ custom_fields.city }}">shop</a></p></body></html>\n';
    const mail = rendered({ subject: "{{ campaign_name }} for {{ email }}", html_content });
    expect(mail.subject).toBe("Spring for ada@example.com");
    expect(mail.html).toBe(
      "<html><body><p>Hello Ada  of London,</p>\n" +
        '<p><a href="https://t.test/c/1/0">shop</a></p>' +
        '<p lang="en" dir="ltr" style="margin:24px 0;font:12px/18px Arial,sans-serif;color:#666666;text-align:center">' +
        '<a href="https://t.test/u/1" style="color:#666666">Unsubscribe from these emails</a></p>\n' +
        '<img src="https://t.test/o/1.gif" width="1" height="1" alt="" style="display:block;border:0"></body></html>\n',
    );
    expect(mail.text).toBe(
      "Hello Ada  of London,\n\nshop <https://shop.test/?a=1&c=London>\n\n" +
        "Unsubscribe from these emails <https://t.test/u/1>",
    );
  });

  test("without tracking and with its own unsubscribe link, it is byte for byte what its author wrote", () => {
    const html_content = `<!doctype html>\r\n<A HREF='https://x.test/?a&amp;b'>\t${wayOut}</body >é\0\n`;
    const mail = rendered(
      { html_content, text_content: "a\r\n{{ unsubscribe_url }} " },
      { tracksClicks: false, tracksOpens: false },
    );
    expect(mail.html).toBe(html_content.replace("{{ unsubscribe_url }}", links.unsubscribe));
    expect(mail.text).toBe("a\r\nhttps://t.test/u/1 ");
  });

  test("has no HTML where only a text was given, and the text's addresses stay", () => {
    const mail = rendered({ text_content: "Hello {{ first_name }}: https://x.test/?c={{ city }}\n" });
    expect([mail.html, mail.text]).toEqual([
      null,
      "Hello Ada: https://x.test/?c=London\n\n-- \nUnsubscribe from these emails: https://t.test/u/1\n",
    ]);
  });

  test("has the text its author wrote, and not the one of the HTML", () => {
    expect(rendered({ html_content: wayOut, text_content: "x {{ unsubscribe_url }}" }).text).toBe(
      "x https://t.test/u/1",
    );
  });

  test("decides and repeats, in the text as in the HTML", () => {
    const html_content = `{% if city == "London" %}<p>Here</p>{% endif %}{% for i in interests %}<p>{{ i }}</p>{% endfor %}${wayOut}`;
    const mail = rendered({ html_content }, { tracksOpens: false });
    expect(mail.html).toBe('<p>Here</p><p>tea</p><p>&lt;maths&gt;</p><a href="https://t.test/u/1">bye</a>');
    expect(mail.text).toBe("Here\n\ntea\n\n<maths>\n\nbye <https://t.test/u/1>");
  });

  test("has no pixel where the recipient has no address for it, as on the page that shows it", () => {
    const { content } = compiled({ html_content: wayOut });
    const mail = renderContent(content, ada, { ...links, pixel: null });
    expect(mail.ok && mail.html).toBe('<a href="https://t.test/u/1">bye</a>');
  });

  test("has no text part where the HTML's merge tags cannot be kept in a text", () => {
    const { content } = compiled({ html_content: `{% if city %}a<style>{% endif %}</style>${wayOut}` });
    expect(content.text).toBeNull();
  });

  test("has only the unsubscribe link as its text when the HTML shows nothing", () => {
    expect(rendered({ html_content: '<p style="display:none">{{unsubscribe_url}}</p>' }).text).toBe(
      "Unsubscribe from these emails <https://t.test/u/1>",
    );
  });

  test("is for SMS its text alone", () => {
    const mail = rendered({ subject: "", text_content: "Hi {{ first_name }}" }, { footer: null });
    expect(mail).toEqual({ ok: true, subject: "", html: null, text: "Hi Ada" });
  });
});

describe("values from strangers", () => {
  const mallory = {
    ...ada,
    first_name: 'M\r\nBcc: eve@x.test<img src=x onerror="x">{{ email }}',
    custom_fields: { city: "javascript:x" },
  };

  test("stay values", () => {
    const content = {
      subject: "Hi {{ first_name }}",
      html_content: `<p title="{{ first_name }}">{{ first_name }}</p><a href="{{ city }}">x</a>${wayOut}`,
    };
    const mail = rendered(content, { tracksOpens: false }, mallory);
    const escaped = "M\r\nBcc: eve@x.test&lt;img src=x onerror=&#34;x&#34;&gt;{{ email }}";
    expect(mail.html).toBe(
      `<p title="${escaped}">${escaped}</p><a href="#">x</a><a href="https://t.test/u/1">bye</a>`,
    );
    expect(headerTextFault(mail.subject)).toBeNull();
    expect(mail.subject).toBe('Hi M Bcc: eve@x.test<img src=x onerror="x">{{ email }}');
  });

  test("make no subject longer than a line may be", () => {
    const mail = rendered(
      { subject: "{{ first_name }}", text_content: "x" },
      {},
      { ...ada, first_name: "😀".repeat(5_000) },
    );
    expect(mail.subject).toHaveLength(998);
    expect(mail.subject.isWellFormed()).toBe(true);
  });

  test("that a filter cannot take make one mail fail, with a sentence, and no exception", () => {
    const { content } = compiled({ text_content: "{{ city | url_decode }}" });
    expect(renderContent(content, { ...ada, custom_fields: { city: "%" } }, links)).toEqual({
      ok: false,
      fault: { field: "text_content", message: "This could not be rendered: URI malformed." },
    });
  });
});

describe("the unsubscribe link", () => {
  const hasFooter = (html_content: string) =>
    rendered({ html_content }).html?.includes("Unsubscribe from these emails");
  test.each([
    ["there is none", "<p>Hello</p>", true],
    ["it is a link", wayOut, false],
    ["it is a text", "{{ unsubscribe_url }}", false],
    ["it is in a comment of the HTML", `<!-- ${wayOut} -->`, true],
    ["it is for Outlook alone", `<!--[if mso]>${wayOut}<![endif]-->`, true],
    ["it is in a comment of the template", `{% comment %}${wayOut}{% endcomment %}`, true],
    ["it is written as it is", `{% raw %}${wayOut}{% endraw %}`, true],
    [
      "it is a title",
      '<head><title>{{ unsubscribe_url }}</title></head><p title="{{ unsubscribe_url }}">x</p>',
      true,
    ],
    [
      "programs read it",
      '<script type="application/ld+json">{"u":"{{ unsubscribe_url }}"}</script><p>x</p>',
      true,
    ],
    ["it styles", "<style>a{background:url({{ unsubscribe_url }})}</style><p>x</p>", true],
    ["it is in a template of HTML", `<template>${wayOut}</template><p>x</p>`, true],
    ["it is a value nobody sees", '<input type="hidden" value="{{ unsubscribe_url }}">x', true],
    ["it is data", '<a data-href="{{ unsubscribe_url }}">x</a>', true],
    ["it is hidden", `<p>x</p><p style="display:none">${wayOut}</p>`, true],
    ["it is hidden by an attribute", `<p hidden>${wayOut}</p>x`, true],
    ["it has nothing to click on", '<a href="{{unsubscribe_url}}"></a>x', true],
    ["it stands for a picture", '<img src="https://x.test/a.png" alt="{{ unsubscribe_url }}">', true],
    ["it is a form without a button", '<form action="{{ unsubscribe_url }}">x</form>', true],
    [
      "a hidden one stands in a branch",
      `{% if first_name %}<p hidden>${wayOut}</p>{% else %}${wayOut}{% endif %}`,
      true,
    ],
    [
      "a name for it is hidden",
      '{% assign way = unsubscribe_url %}<p hidden><a href="{{ way }}">u</a></p>',
      true,
    ],
    [
      "it is a name given in a comment",
      `<!-- {% assign w = unsubscribe_url %} --><a href="{{ w }}">u</a>`,
      false,
    ],
    ["a hidden one stands beside it", `<p hidden>${wayOut}</p>${wayOut}`, false],
    ["it is a picture", '<a href="{{ unsubscribe_url }}"><img src="https://x.test/a.png" alt=""></a>', false],
    ["it is in a picture's map", '<map><area href="{{ unsubscribe_url }}"></map>', false],
    ["it is a form", '<form action="{{ unsubscribe_url }}"><button>Leave</button></form>', false],
    [
      "it is a button's",
      '<form><input type="submit" formaction="{{ unsubscribe_url }}" value="Leave"></form>',
      false,
    ],
    ["it is a text to edit", `<textarea>${wayOut}</textarea><p>x</p>`, true],
    ["it is a choice", `<select><option>${wayOut}</select><p>x</p>`, true],
    ["its cell hides it", `<table><tr><td><div hidden>${wayOut}</td></tr></table>`, true],
    ["it is behind a hidden cell", `<table><tr><td hidden><td>${wayOut}</table>`, false],
    ["it is behind the cell of what hides", `<table><tr><td><div hidden>a</td><td>${wayOut}</table>`, false],
    ["it is behind a hidden paragraph", `<p hidden>a<div>${wayOut}</div>`, false],
    ["it is behind hidden formatting", `<div><b hidden>a</b></div>${wayOut}`, false],
    ["it is behind a hidden item", `<ul><li hidden>a<li>${wayOut}</ul>`, false],
    [
      "a branch decides about what hides",
      `{% if a %}<p hidden>{% else %}<p>{% endif %}x</p>${wayOut}`,
      false,
    ],
    ["it is in a cell", `<table><tr><td>a</td><td>${wayOut}</td></tr></table>`, false],
  ])("is added to the HTML where %s: %j %s", (_what, html, added) => {
    expect(hasFooter(html)).toBe(added);
  });

  test("is seen behind more HTML than a text is made of", () => {
    expect(hasFooter(`${"<p>word word word</p>".repeat(20_000)}${wayOut}`)).toBe(false);
  });

  test("is added to an own text, too", () => {
    expect(rendered({ html_content: wayOut, text_content: "x" }).text).toContain("https://t.test/u/1");
  });

  test("stands outside of every block", () => {
    expect(hasFooter("{% if nobody %}<p>x</p></body>{% endif %}")).toBe(true);
  });
});

describe("the words of the footer", () => {
  const footer = footerOf({ language: "de", fields: ["language", "locale"] });
  const mailTo = (custom_fields: RecipientValues["custom_fields"], html_content = "<p>x</p>") =>
    rendered({ html_content }, { footer }, { ...ada, custom_fields });

  test.each([
    [{}, "de", "Von diesen E-Mails abmelden"],
    [{ language: "fr-CA" }, "fr", "Se désabonner de ces e-mails"],
    [{ locale: "JA_jp" }, "ja", "このメールの配信を停止する"],
    [{ language: "Klingon", locale: "zh-Hans" }, "zh-Hans", "退订此类邮件"],
    [{ language: ["fr"] }, "de", "Von diesen E-Mails abmelden"],
    [{ language: "<script>" }, "de", "Von diesen E-Mails abmelden"],
  ])("for a recipient with %j are %s: %s", (fields, tag, words) => {
    const mail = mailTo(fields);
    expect(mail.html).toContain(`<p lang="${tag}" dir="ltr" style=`);
    expect(mail.html).toContain(`<a href="https://t.test/u/1" style="color:#666666">${words}</a>`);
    expect(mail.text).toContain(`${words} <https://t.test/u/1>`);
  });

  test("are written from right to left for a recipient who reads Arabic, with the link alone as it is", () => {
    const mail = mailTo({ language: "ar" });
    expect(mail.html).toContain('<p lang="ar" dir="rtl"');
    const { text } = rendered(
      { text_content: "x" },
      { footer },
      { ...ada, custom_fields: { language: "ar" } },
    );
    expect(text).toBe("x\n\n-- \nإلغاء الاشتراك في هذه الرسائل: https://t.test/u/1\n");
  });

  test("depend on the recipient also where merge tags decide whether the footer is needed", () => {
    const html = `{% if city == "London" %}${wayOut}{% endif %}`;
    expect(mailTo({ city: "London", language: "pl" }, html).html).not.toContain("Zrezygnuj");
    expect(mailTo({ city: "Paris", language: "pl" }, html).html).toContain("Zrezygnuj");
  });

  test("make their fields values that the mail shows, so that its web view has the same footer", () => {
    const fieldsOf = (html_content: string) => compiled({ html_content }, { footer }).content.facts.fields;
    expect(fieldsOf("{{ city }}")).toEqual(["city", "language", "locale"]);
    expect(fieldsOf(`{{ city }}${wayOut}`)).toEqual(["city"]);
  });

  test("are followed by the sender's lines, which are never markup or merge tags", () => {
    const lines = { footer_text: "A & B <GmbH>", postal_address: "Weg 1\n1010 Wien {x}" };
    const own = footerOf({ language: "de", fields: [] }, undefined, lines);
    const mail = rendered({ html_content: "<p>x</p>", text_content: "x" }, { footer: own });
    expect(mail.html).toContain(
      '</a><br>\n<span dir="auto">A &amp; B &lt;GmbH&gt;<br>\nWeg 1<br>\n1010 Wien &#123;x}</span></p>',
    );
    expect(mail.text).toBe(
      "x\n\n-- \nVon diesen E-Mails abmelden: https://t.test/u/1\n\nA & B <GmbH>\nWeg 1\n1010 Wien {x}\n",
    );
  });
});

describe("the facts of a content", () => {
  test("are what has to be known of a recipient, and the links, as plain data", () => {
    const { facts } = compiled({
      subject: "{{ first_name }}",
      html_content: `{{ city }} {{ custom_fields.interests | join: last_name }} <a href="https://x.test/?a={{ city }}">${wayOut}`,
    }).content;
    expect(JSON.parse(JSON.stringify(facts))).toEqual({
      variables: ["first_name", "last_name", "unsubscribe_url"],
      fields: ["city", "interests"],
      usesDates: false,
      links: [{ url: "https://x.test/?a={{ city }}", personal: true }],
    });
  });

  test("say that any field may be used when a template computes the name", () => {
    expect(compiled({ text_content: "{{ custom_fields[first_name] }}" }).content.facts.fields).toBeNull();
    expect(compiled({ text_content: "{{ custom_fields | size }}" }).content.facts.fields).toBeNull();
  });

  test("say whether a time is shown", () => {
    const usesDates = (text_content: string) => compiled({ text_content }).content.facts.usesDates;
    expect(usesDates('Now: {{ "now" | date: "%Y" }}')).toBe(true);
    expect(usesDates("{% assign day = born|date:'%d' %}{{ day }}")).toBe(true);
    expect(usesDates("A date: {{ born }}")).toBe(false);
  });

  test("have no links where clicks are not tracked", () => {
    expect(
      compiled({ html_content: '<a href="https://x.test/">' }, { tracksClicks: false }).content.facts.links,
    ).toEqual([]);
  });
});

describe("what is wrong with a content", () => {
  const faultsOf = (content: Partial<CampaignContent>) => {
    const result = compileContent(
      { subject: "News", html_content: null, text_content: null, ...content },
      options,
    );
    return result.ok
      ? []
      : result.faults.map(({ field, line, column, message }) => [field, line, column, message]);
  };

  test.each([
    [
      "neither HTML nor text",
      { html_content: " \n" },
      "html_content",
      "html_content: give the mail an html_content or a text_content",
    ],
    [
      "a tag that does not end",
      { text_content: "a\n {{ b" },
      "text_content",
      "text_content, line 2, column 2: This merge tag is not closed with }}.",
    ],
    [
      "a line break in the subject",
      { subject: "a\r\nBcc: x", text_content: "x" },
      "subject",
      "subject: Remove the line break U+000D at position 2.",
    ],
    [
      "markup in a capture",
      { html_content: "{% capture a %}<b>{% endcapture %}" },
      "html_content",
      "html_content, line 1, column 16: A capture holds text: this markup would be shown to readers.",
    ],
    [
      "a loop that does not end soon",
      { text_content: "{% for i in (1..10000000) %}x{% endfor %}" },
      "text_content",
      "text_content: This could not be rendered: it handles too much text.",
    ],
  ])("is said: %s", (_what, content, field, message) => {
    expect(faultsOf(content)).toContainEqual([field, expect.any(Number), expect.any(Number), message]);
  });

  test.each([
    ["lists in lists", "<ul><li>".repeat(240_000)],
    ["what is hidden", '<div style="display:none">'.repeat(70_000)],
    ["tags that do not end", "<a ".repeat(660_000)],
    ["attributes", `<a ${"b=c ".repeat(480_000)}>`],
    ["links", '<a href="https://x.test/">x</a>'.repeat(64_000)],
  ])("is said, sooner than other HTML is read, of HTML that is nothing but %s", (_what, html_content) => {
    const longest = costOf(() => faultsOf({ html_content: "<p>Hello</p>".repeat(24_000) }));
    const refused = costOf(() =>
      expect(faultsOf({ html_content })).toEqual([
        ["html_content", 1, 1, "html_content: shorten this to 50000 tags, attributes and comments"],
      ]),
    );
    // Lists in lists that are read would cost a hundred times as much.
    expect(refused).toBeLessThan(3 * longest);
  });

  test.each([
    ["everybody gets", ""],
    ["some get", "{% if first_name %}{{ unsubscribe_url }}{% endif %}"],
  ])("is said of HTML that only the footer that %s makes too long", (_who, start) => {
    const withMarkup = (count: number) =>
      faultsOf({ html_content: `${start}${"<i>".repeat(count - 1)}word<p title={{ first_name }}>` });
    const crowded = [
      ["html_content", 1, 1, "html_content: shorten this to 50000 tags, attributes and comments"],
    ];
    // The footer has two elements with five attributes.
    const most = mostMarkup - 1 - 9;
    expect([withMarkup(most), withMarkup(most + 1)]).toEqual([[], crowded]);
  });

  const hides = (what: string, column: number) => [
    [
      "html_content",
      1,
      column,
      `html_content, line 1, column ${column}: ${what} is left open and hides the unsubscribe link at the end of the body: close it.`,
    ],
  ];
  test.each([
    ["<div style='display:none'>", "", "This <div>"],
    ["<div style='display:none'>", `<p>${wayOut}</p>`, "This <div>"],
    ["<div hidden/>", wayOut, "This <div>"],
    ["<span hidden><div>", `</span>${wayOut}`, "This <span>"],
    ["<b hidden>", `<div></b></div><div><b hidden></div>`, "This <b>", 43],
    ["<p hidden><button>", `<p>${wayOut}</p>`, "This <p>"],
    ["<table><b hidden>", `</table>${wayOut}`, "This <b>", 20],
    ["<!-- note", wayOut, "This comment"],
    ["<style>", wayOut, "This <style>"],
    ["<title/>", wayOut, "This <title>"],
    ["<textarea>", wayOut, "This <textarea>"],
    ["<select>", wayOut, "This <select>"],
    ["<script>", "", "This <script>"],
    ["<a href='x", "", "This <a>"],
  ])("is said of what hides the footer: %s%s", (opened, behind, what, column?: number) => {
    expect(faultsOf({ html_content: `<p>Hello</p>${opened}${behind}</body>` })).toEqual(
      hides(what, column ?? 13),
    );
  });

  test("is said of all parts at once", () => {
    expect(
      faultsOf({ subject: "{{ a | b }}", html_content: "{% c %}", text_content: "{{" }).map(
        ([field]) => field,
      ),
    ).toEqual(["subject", "html_content", "text_content"]);
  });

  test("and names that show nothing are warnings, with what may be meant", () => {
    const { warnings } = compiled({
      subject: "{{ FirstName }}",
      html_content:
        "{{ first_name }}\n{{ custom_fields.town }} {{ custom_fields.city }}{{ City }}{{ email.size }}{{ email.domain }}",
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      "subject, line 1, column 4: No custom field FirstName is defined: it shows nothing, except for people who have such a value. Did you mean first_name?",
      "html_content, line 2, column 4: No custom field town is defined: it shows nothing, except for people who have such a value.",
      "html_content, line 2, column 53: No custom field City is defined: it shows nothing, except for people who have such a value. Did you mean city?",
      "html_content, line 2, column 79: There is no email.domain: it shows nothing.",
    ]);
  });

  test.each([
    [
      "a condition",
      '{% if first_name == "zzz" %}<a href="{{ unsubscribe_url }}">u</a>{% else %}Dear{% endif %}',
    ],
    ["a capture that is not shown", "{% capture way %}{{ unsubscribe_url }}{% endcapture %}Dear"],
    ["a name that is not shown", "{% assign way = unsubscribe_url %}Dear"],
  ])(
    "a recipient for whom %s shows no unsubscribe link gets the footer in both parts",
    (_what, html_content) => {
      const { html, text } = rendered({ html_content });
      expect(html).toMatch(new RegExp(`Dear.*href="${links.unsubscribe}"`, "s"));
      expect(text).toContain(links.unsubscribe);
    },
  );

  test.each([
    [
      "either branch",
      "{% if first_name %}<a href='{{ unsubscribe_url }}'>u</a>{% else %}{{ unsubscribe_url }}{% endif %}",
    ],
    ["a name", '{% assign way = unsubscribe_url %}<a href="{{ way }}">u</a>'],
  ])("a recipient for whom %s shows one gets no footer", (_what, html_content) => {
    const { html } = rendered({ html_content });
    expect(html?.split(links.unsubscribe)).toHaveLength(2);
  });

  test("a template as long as one may be takes the footer, too", () => {
    const text_content = `${"{{ email }}".repeat(1_666)}x`;
    expect(rendered({ text_content }).text).toContain(links.unsubscribe);
  });
});
