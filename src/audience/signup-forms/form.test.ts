/** What a form asks for and says, and what becomes of it: fields, consent, words, languages and the thank-you address. */
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DAY_MS } from "#platform/time-units.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { type FormFields, signupVisits } from "#test/support/signup-visits.ts";
import { oldestOpen } from "./confirm-signup.ts";
import {
  listSignupRequestsOf,
  removeLapsedRequests,
  removeSignupRequestsOf,
  removeUnusedWordings,
} from "./store.ts";

const service = await startService({
  env: { PLATFORM_FROM: "hello@posthaste.test", TRUSTED_PROXIES: "127.0.0.1" },
});
const { database: db, clock, call } = service;
const { post, ask, mailsTo, linkTo } = signupVisits(service);

beforeAll(() => verifyShop(db, service.workspaceId));

let list: string;
let email: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  email = `grace${count}@example.test`;
  list = (await call("POST", "/mailing-lists", { name: `Club ${count}` })).body.data.id;
});

const form = (body: object) =>
  call("PUT", `/mailing-lists/${list}/signup-form`, { is_active: true, ...body });
const open = async (body: object = {}): Promise<string> => {
  const answer = await form(body);
  expect(answer.status, answer.body.error).toBe(200);
  return answer.body.data.url;
};
const define = async (field_name: string, body: object) => {
  const field = { field_name, field_label: `Your ${field_name}`, ...body };
  const answer = await call("POST", `/mailing-lists/${list}/custom-fields`, field);
  expect(answer.status, answer.body.error).toBe(201);
};
/** A network of its own for each test: a network may sign up only so often. */
const send = (url: string, fields: FormFields = {}) => ask(url, { email, ...fields }, `198.51.100.${count}`);
const textAt = async (url: string, headers: Readonly<Record<string, string>> = {}) =>
  (await fetch(url, { headers })).text();
const member = async () => {
  const { body } = await call("GET", `/mailing-lists/${list}/subscribers?search=${email}`);
  return body.data.subscribers[0];
};
const fieldsShown = async () => (await call("GET", `/mailing-lists/${list}/signup-form`)).body.data.fields;
const valuesOf = async () => JSON.parse((await member()).custom_fields);

describe("the settings of a form", () => {
  test("stay when they are omitted, also while it is closed", async () => {
    const settings = {
      title: "Join the club",
      description: "Twice a month.\n\nNo advertising.",
      button_text: "Count me in",
      consent_text: "I agree to the terms.",
      language: "visitor",
      thank_you_url: "https://shop.example/thanks",
      fields: [{ field: "last_name", is_required: true, label: "Surname" }],
    };
    const { data } = (await form({ is_active: false, ...settings })).body;
    expect(data).toMatchObject({ is_active: false, url: null, ...settings });
    expect((await form({})).body.data).toMatchObject({ is_active: true, ...settings });
    await form({ is_active: false, title: null });
    expect((await form({})).body.data).toMatchObject({ ...settings, title: null });
  });

  test.each([
    [{ fields: [{ field: "city" }] }, "fields[0].field"],
    [{ fields: [{ field: "email" }] }, "fields[0].field"],
    [{ fields: [{ field: "first_name" }, { field: "first_name" }] }, "fields[1].field"],
    [{ fields: [{ field: "first_name", label: "a\nb" }] }, "fields[0].label"],
    [{ fields: Array.from({ length: 31 }, () => ({ field: "first_name" })) }, "fields"],
    [{ thank_you_url: "http://shop.example" }, "thank_you_url"],
    [{ thank_you_url: "//evil.example" }, "thank_you_url"],
    [{ thank_you_url: "javascript:alert(1)" }, "thank_you_url"],
    [{ title: "x".repeat(201) }, "title"],
    [{ title: "a\u0000b" }, "title"],
    [{ description: "\ud800" }, "description"],
    [{ consent_text: "{{ first_name }} agrees" }, "consent_text"],
    [{ language: "xx" }, "language"],
  ])("%j is refused, naming %s, and changes nothing", async (body, field) => {
    const refused = await form({ button_text: "Go", ...body });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([
      400,
      "VALIDATION_ERROR",
    ]);
    expect(JSON.stringify(refused.body)).toContain(field);
    const { data } = (await call("GET", `/mailing-lists/${list}/signup-form`)).body;
    expect(data).toMatchObject({ is_active: false, button_text: null });
  });

  test("have their texts on the page, escaped", async () => {
    const url = await open({ title: "<b>Join", description: "One & <two>", button_text: '"Go"' });
    const page = await textAt(url);
    expect(page).toContain("<h1>&lt;b&gt;Join</h1>");
    expect(page).toContain("One &amp; &lt;two&gt;");
    expect(page).toContain("<button><bdi>&quot;Go&quot;</bdi></button>");
  });
});

describe("custom fields", () => {
  const everyKind = async () => {
    await define("city", { field_type: "text", help_text: "Where you live" });
    await define("website", { field_type: "url" });
    await define("page", { field_type: "number", validation_rules: { min: 1, max: 9 } });
    await define("born", { field_type: "date" });
    await define("is_vip", { field_type: "boolean" });
    await define("size", {
      field_type: "select",
      field_options: [{ label: "Small & light", value: "s" }, "m"],
    });
    await define("topics", { field_type: "multiselect", field_options: ["tea", "maths", "music"] });
    await define("about", { field_type: "textarea" });
    const names = ["city", "website", "page", "born", "is_vip", "size", "topics", "about"];
    return open({ fields: names.map((field) => ({ field })) });
  };
  const typed = {
    "custom_fields.city": "London",
    "custom_fields.website": "https://ada.example/",
    "custom_fields.page": "7",
    "custom_fields.born": "1815-12-10",
    "custom_fields.is_vip": "true",
    "custom_fields.size": "s",
    "custom_fields.topics": ["tea", "maths"],
    "custom_fields.about": "One\r\ntwo",
  };
  const stored = {
    city: "London",
    website: "https://ada.example/",
    page: 7,
    born: "1815-12-10",
    is_vip: true,
    size: "s",
    topics: ["tea", "maths"],
    about: "One\ntwo",
  };

  test("of every type are asked for, shown again to the owner of the address, and stored when they confirm", async () => {
    const url = await everyKind();
    expect((await send(url, typed)).status).toBe(200);
    expect(await member()).toBeUndefined();
    const link = await linkTo(email);
    const page = await textAt(link);
    for (const shown of [
      'value="London"',
      'value="7"',
      'value="1815-12-10"',
      '<option value="s" selected>',
    ]) {
      expect(page).toContain(shown);
    }
    expect(page.match(/ checked/g)).toHaveLength(3);
    expect((await post(link, { ...typed, "custom_fields.city": "Paris" })).status).toBe(200);
    expect(await valuesOf()).toEqual({ ...stored, city: "Paris" });
  });

  test("whose values are wrong are named, and no mail is sent", async () => {
    const url = await everyKind();
    const wrong = {
      "custom_fields.website": "javascript:alert(1)",
      "custom_fields.page": "10",
      "custom_fields.born": "yesterday",
      "custom_fields.size": "xl",
      "custom_fields.topics": ["tea", "sports"],
      "custom_fields.city": "Lon\u0000don",
      "custom_fields.about": "x".repeat(10_001),
    };
    for (const [name, value] of Object.entries(wrong)) {
      const answer = await send(url, { ...typed, [name]: value });
      const label = `Your ${name.split(".")[1]}`;
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining(`Please check what you entered: ${label}`),
      ]);
    }
    expect(await mailsTo(email)).toEqual([]);
  });

  test("take as many characters as the page lets people type, in any script", async () => {
    await define("about", { field_type: "textarea" });
    const url = await open({ fields: [{ field: "about" }] });
    const about = "声".repeat(5_000);
    expect((await send(url, { "custom_fields.about": about })).status).toBe(200);
    expect((await post(await linkTo(email), { "custom_fields.about": about })).status).toBe(200);
    expect(await valuesOf()).toEqual({ about });
  });

  test("that are wrong on the confirmation page are named there, and the person does not join", async () => {
    const url = await everyKind();
    await send(url, typed);
    const link = await linkTo(email);
    const answer = await post(link, { ...typed, "custom_fields.page": "0", "custom_fields.city": "Rome" });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("Your page")]);
    expect(await member()).toBeUndefined();
    expect((await post(link, typed)).status).toBe(200);
    expect(await valuesOf()).toEqual(stored);
  });

  test("that are boxes take the words for yes and no from another site, and refuse others", async () => {
    await define("is_vip", { field_type: "boolean" });
    const url = await open({ fields: [{ field: "is_vip" }] });
    for (const [text, isTicked] of [
      ["on", true],
      ["1", true],
      ["off", false],
      ["false", false],
    ] as const) {
      const page = await (await post(url, { email, "custom_fields.is_vip": text })).text();
      expect([text, page.includes(" checked")]).toEqual([text, isTicked]);
    }
    expect((await send(url, { "custom_fields.is_vip": "perhaps" })).status).toBe(400);
    await send(url);
    await post(await linkTo(email), { "custom_fields.is_vip": "off" });
    expect(await valuesOf()).toEqual({ is_vip: false });
  });

  test("that are boxes must be ticked where the form says so, and need not where only the list requires a value", async () => {
    await define("is_adult", { field_type: "boolean" });
    await define("is_vip", { field_type: "boolean", is_required: true });
    const fields = [{ field: "is_adult", is_required: true }, { field: "is_vip" }];
    const url = await open({ fields });
    expect(await fieldsShown()).toMatchObject([
      { field: "is_adult", is_required: true },
      { field: "is_vip", is_required: false },
    ]);
    expect((await textAt(url)).match(/type="checkbox"[^>]* required/g)).toHaveLength(1);
    const refused = await send(url);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("Your is_adult")]);
    expect((await send(url, { "custom_fields.is_adult": "true" })).status).toBe(200);
    const link = await linkTo(email);
    expect((await post(link)).status).toBe(400);
    expect((await post(link, { "custom_fields.is_adult": "true" })).status).toBe(200);
    expect(await valuesOf()).toEqual({ is_adult: true, is_vip: false });
  });

  test("that the list requires must be in the form, and need a value", async () => {
    await define("city", { field_type: "text", is_required: true });
    const refused = await form({});
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("add it to fields")]);
    const url = await open({ fields: [{ field: "city", is_required: false }] });
    expect(await fieldsShown()).toEqual([{ field: "city", is_required: true, label: null }]);
    const empty = await send(url, { "custom_fields.city": "  " });
    expect([empty.status, await empty.text()]).toEqual([
      400,
      expect.stringContaining("Please fill this in: Your city"),
    ]);
    await send(url, { "custom_fields.city": "Oslo" });
    await post(await linkTo(email), { "custom_fields.city": "Oslo" });
    expect(await valuesOf()).toEqual({ city: "Oslo" });
  });

  test("of a person who had left are stored like those of a new one", async () => {
    await define("city", { field_type: "text" });
    await define("plan", { field_type: "text" });
    const known = { email, first_name: "Grace", custom_fields: { plan: "gold" } };
    const added = await call("POST", `/mailing-lists/${list}/subscribers`, known);
    const path = `/mailing-lists/${list}/subscribers/${added.body.data.subscriber_id}/status`;
    await call("PUT", path, { status: "unsubscribed" });
    const url = await open({
      fields: ["first_name", "last_name", "city", "plan"].map((field) => ({ field })),
    });
    const typed = {
      first_name: "Eve",
      last_name: "Hopper",
      "custom_fields.city": "Bern",
      "custom_fields.plan": "free",
    };
    await send(url, typed);
    await post(await linkTo(email), typed);
    expect(await member()).toMatchObject({ status: "active", first_name: "Grace", last_name: "Hopper" });
    expect(await valuesOf()).toEqual({ city: "Bern", plan: "gold" });
  });

  test("of a person whom the workspace knows stay as they are, and fields that are not in the form are ignored", async () => {
    await define("city", { field_type: "text" });
    await define("plan", { field_type: "text" });
    const other = (await call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    const known = { email, custom_fields: { city: "Bern" } };
    await call("POST", `/mailing-lists/${other}/subscribers`, known);
    const url = await open({ fields: [{ field: "city" }] });
    await send(url, { "custom_fields.city": "Evil", "custom_fields.plan": "gold" });
    await post(await linkTo(email), { "custom_fields.city": "Evil", "custom_fields.plan": "gold" });
    expect(await valuesOf()).toEqual({ city: "Bern" });
  });

  test("that were deleted since are no longer asked for or shown", async () => {
    await define("city", { field_type: "text" });
    const url = await open({ fields: [{ field: "last_name" }, { field: "city" }] });
    const [{ id }] = (await call("GET", `/mailing-lists/${list}/custom-fields`)).body.data;
    await call("DELETE", `/mailing-lists/${list}/custom-fields/${id}`);
    expect(await textAt(url)).not.toContain("custom_fields.city");
    expect(await fieldsShown()).toEqual([{ field: "last_name", is_required: false, label: null }]);
    expect((await send(url)).status).toBe(200);
    expect((await post(await linkTo(email))).status).toBe(200);
  });
});

describe("a consent", () => {
  const consent_text = "I agree that the shop writes to me.\nI can leave at any time.";
  const proofs = () =>
    db.rows(sql`
      select c.text as consent_text, r.confirmed_at is not null as is_confirmed
      from signup_requests r join consent_wordings c on c.workspace_id = r.workspace_id and c.hash = r.consent_hash
      where mailing_list_id = ${list} and email = ${email}`);

  test("must be given in the form, and its wording is kept with the confirmation until the list is deleted", async () => {
    const url = await open({ consent_text });
    const refused = await send(url);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("tick the box")]);
    expect(await mailsTo(email)).toEqual([]);
    await send(url, { consent: "yes" });
    await form({ consent_text: "Another wording" });
    const link = await linkTo(email);
    expect(await textAt(link)).toContain("I agree that the shop writes to me.");
    await post(link);
    clock.advance(3 * DAY_MS);
    await removeLapsedRequests(db, oldestOpen(clock.now()), 1_000);
    await form({ is_active: false });
    expect(await proofs()).toEqual([{ consent_text, is_confirmed: true }]);
    expect((await call("DELETE", `/mailing-lists/${list}`)).status).toBe(200);
    expect(await proofs()).toEqual([]);
  });

  test.each(["yes", "no", "on"])("given as %s on another site's form is asked for again", async (consent) => {
    const url = await open({ consent_text });
    const page = await (await post(url, { email, consent })).text();
    expect(page).toContain('name="consent"');
    expect(page).not.toContain(" checked");
  });

  test("stays ticked on the form that is shown again, and any other value does not tick it", async () => {
    const url = await open({ consent_text });
    const wrong = { email: "no address" };
    expect(await (await send(url, { ...wrong, consent: "yes" })).text()).toContain(" checked");
    expect(await (await send(url, { ...wrong, consent: "no" })).text()).not.toContain(" checked");
  });

  test("that was not confirmed is no proof, and is forgotten", async () => {
    await send(await open({ consent_text }), { consent: "yes" });
    clock.advance(3 * DAY_MS);
    // Those of other tests are open, too: each call removes the one that it may.
    while ((await removeLapsedRequests(db, oldestOpen(clock.now()), 1)) === 1);
    expect(await proofs()).toEqual([]);
  });

  test("is kept once for all people, as long as one of them is kept", async () => {
    const wordings = async () =>
      (await db.rows<{ text: string }>(sql`select text from consent_wordings where text = ${unusual}`))
        .length;
    const unusual = `${consent_text} É ✓`;
    const url = await open({ consent_text: unusual });
    const others = ["one", "two"].map((name) => `${name}.${email}`);
    for (const other of others) {
      await send(url, { email: other, consent: "yes" });
      await post(await linkTo(other));
    }
    expect(await wordings()).toBe(1);
    clock.advance(10 * DAY_MS);
    for (const other of others) {
      await removeUnusedWordings(db, clock.now(), 100);
      expect(await wordings()).toBe(1);
      const [request] = await listSignupRequestsOf(db, service.workspaceId, other);
      expect(request?.consent_text).toBe(unusual);
      await removeSignupRequestsOf(db, service.workspaceId, other);
    }
    await removeUnusedWordings(db, clock.now(), 100);
    expect(await wordings()).toBe(0);
  });
});

describe("a thank-you address", () => {
  const thank_you_url = "https://shop.example/thanks?from=form";

  test("is where the button of the confirmation leads, and only that button", async () => {
    await send(await open({ thank_you_url }), { thank_you_url: "https://evil.example/" });
    const link = await linkTo(email);
    const page = await fetch(link);
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https:;");
    const joined = await post(`${link}?thank_you_url=https://evil.example/`);
    expect([joined.status, joined.headers.get("location"), joined.headers.get("referrer-policy")]).toEqual([
      303,
      thank_you_url,
      "no-referrer",
    ]);
    expect(await member()).toMatchObject({ status: "active" });
    expect(await textAt(link)).toContain("You are subscribed");
  });

  test("is not shown to an address that cannot join", async () => {
    await send(await open({ thank_you_url }));
    const { body } = await call("POST", "/suppression-lists", { name: "Never" });
    await call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: email });
    expect((await post(await linkTo(email))).status).toBe(409);
  });
});

describe("the language of a form", () => {
  const heading = async (url: string, accept = "") => {
    const page = await textAt(url, { "Accept-Language": accept });
    return [/<html lang="([\w-]+)"/.exec(page)?.[1], /<button>(.*?)<\/button>/.exec(page)?.[1]];
  };

  test("is that of the workspace, of the list, of the form, or of the URL: the last one that is given", async () => {
    const url = await open();
    expect(await heading(url, "fr")).toEqual(["en", "Subscribe"]);
    await call("PUT", `/mailing-lists/${list}`, { language: "de" });
    expect(await heading(url, "fr")).toEqual(["de", "Anmelden"]);
    await form({ language: "pl" });
    expect(await heading(url, "fr")).toEqual(["pl", "Zapisz się"]);
    expect(await heading(`${url}?lang=ZH-cn`, "fr")).toEqual(["zh-Hans", "订阅"]);
    expect(await heading(`${url}?lang=<script>`)).toEqual(["pl", "Zapisz się"]);
    expect(await heading(`${url}?lang=de&lang=fr`)).toEqual(["pl", "Zapisz się"]);
  });

  test("is the browser's where the form says so, and the list's where we have none of the browser's", async () => {
    await call("PUT", `/mailing-lists/${list}`, { language: "de" });
    const url = await open({ language: "visitor" });
    expect(await heading(url, "sv, it-CH;q=0.8")).toEqual(["it", "Invia l’iscrizione"]);
    expect(await heading(url, "sv")).toEqual(["de", "Anmelden"]);
  });

  test("is that of the mail and of the pages that follow", async () => {
    const url = await open({ title: "Join" });
    const sent = await send(`${url}?lang=ar`);
    expect(await sent.text()).toContain('<html lang="ar" dir="rtl">');
    const [mail] = await mailsTo(email);
    expect(mail?.subject).toBe(`يُرجى التأكيد: \u2068Club ${count}\u2069`);
    expect(mail?.html).toContain('<html lang="ar" dir="rtl">');
    const link = await linkTo(email);
    expect(await textAt(link, { "Accept-Language": "fr" })).toContain('<html lang="ar" dir="rtl">');
    expect(await (await post(link)).text()).toContain("تم تأكيد الاشتراك");
  });
});

describe("the language in which a person signed up", () => {
  const signUpIn = async (language: string, fields: FormFields = {}) => {
    const url = await open(fields.asked === undefined ? {} : { fields: [{ field: "language" }] });
    await send(`${url}?lang=${language}`);
    expect((await post(await linkTo(email), fields)).status).toBe(200);
    return valuesOf();
  };

  test("becomes their language, where people of the list have such a field", async () => {
    await define("language", { field_type: "text" });
    expect(await signUpIn("fr-CA")).toEqual({ language: "fr" });
  });

  test("is stored nowhere where they have none, or it does not take the value, or it is the list's anyway", async () => {
    expect(await signUpIn("fr")).toEqual({});
    email = `other${email}`;
    await define("language", { field_type: "select", field_options: ["de", "en"] });
    expect(await signUpIn("fr")).toEqual({});
    email = `other${email}`;
    expect(await signUpIn("en")).toEqual({});
  });

  test("gives way to a language that the workspace has in another field", async () => {
    await define("language", { field_type: "text" });
    await define("locale", { field_type: "text" });
    const other = (await call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    const known = { email, custom_fields: { locale: "de-AT" } };
    await call("POST", `/mailing-lists/${other}/subscribers`, known);
    expect(await signUpIn("fr")).toEqual({ locale: "de-AT" });
  });

  test("gives way to what the person says in the form", async () => {
    await define("language", { field_type: "text" });
    expect(await signUpIn("fr", { asked: "yes", "custom_fields.language": "nl" })).toEqual({
      language: "nl",
    });
  });
});

describe("texts that the workspace has replaced", () => {
  beforeAll(async () => {
    const texts = { confirm_mail_subject: "Free money: {list}", signup_note: "See you soon." };
    await call("PATCH", "/texts", { language: "es", texts });
    await call("PATCH", "/brand", { accent_color: "#ffd400" });
  });

  test("are on its pages, and in mail from an address of its own with its colours", async () => {
    await call("PUT", `/mailing-lists/${list}`, { language: "es", from_email: "news@shop.test" });
    const url = await open();
    expect(await textAt(url)).toContain("See you soon.");
    await send(url);
    expect(await mailsTo(email)).toMatchObject([
      {
        subject: `Free money: Club ${count}`,
        html: expect.stringContaining("background:#ffd400;color:#1b1f24"),
      },
    ]);
  });

  test("are not in mail from the service's own address, which must not send what a workspace writes", async () => {
    await call("PUT", `/mailing-lists/${list}`, { language: "es" });
    await send(await open());
    expect(await mailsTo(email)).toMatchObject([
      {
        from_email: "hello@posthaste.test",
        subject: `Confirme su suscripción: Club ${count}`,
        html: expect.not.stringContaining("#ffd400"),
      },
    ]);
  });
});
