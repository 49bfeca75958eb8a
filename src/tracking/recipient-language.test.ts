/** In which language the recipient of a mail reads its pages. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { post, trackingScene, visit } from "#test/support/tracking-visits.ts";

const { service, oneMail } = await trackingScene();
const { call, database: db } = service;

const titleOf = async (answer: Promise<Response>) => /<h1>(.*)<\/h1>/.exec(await (await answer).text())?.[1];
const setList = (id: string, body: object) => call("PUT", `/mailing-lists/${id}`, body);
const setField = (email: string, values: object) =>
  db.run(sql`update subscribers set custom_fields = ${JSON.stringify(values)}::jsonb where email = ${email}`);
const define = async (field_name: string, listId?: string) => {
  const field = { field_name, field_label: "Language", field_type: "text" };
  const path = listId === undefined ? "/custom-fields" : `/mailing-lists/${listId}/custom-fields`;
  const answer = await call("POST", path, field);
  expect(answer.status, answer.body.error).toBe(201);
};

test("the list's language counts before the workspace's, and the recipient's before both", async () => {
  const { links, email, listId } = await oneMail();
  const asked = () => titleOf(visit(links.unsubscribe));
  expect(await asked()).toBe("Unsubscribe?");
  await call("PATCH", "/workspace", { language: "nl" });
  expect(await asked()).toBe("Afmelden?");
  await setList(listId, { language: "de" });
  expect(await asked()).toBe("Abmelden?");
  await setField(email, { locale: "fr_BE" });
  expect(await asked()).toBe("Abmelden?");
  await define("locale", listId);
  expect(await asked()).toBe("Se désabonner\u202f?");
  expect(await titleOf(post(links.unsubscribe))).toBe("Votre désabonnement est enregistré");
  expect(await titleOf(post(links.unsubscribe, "take_back=yes"))).toBe("Votre abonnement est rétabli");
  await call("PATCH", "/workspace", { language: "en" });
});

test("a field that the workspace names counts alone", async () => {
  const { links, email, listId } = await oneMail();
  const asked = () => titleOf(visit(links.unsubscribe));
  await define("language", listId);
  await define("sprache", listId);
  await setField(email, { language: "es", sprache: "PL" });
  expect(await asked()).toBe("¿Cancelar la suscripción?");
  expect((await call("PATCH", "/workspace", { language_field: "sprache" })).status).toBe(200);
  expect(await asked()).toBe("Zrezygnować z subskrypcji?");
  await setField(email, { language: "es", sprache: "unknown" });
  expect(await asked()).toBe("Unsubscribe?");
  for (const language_field of ["no field", "idioma"]) {
    const refused = await call("PATCH", "/workspace", { language_field });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, "language_field"]);
  }
  await call("PATCH", "/workspace", { language_field: null });
});

test("the field that the workspace names holds text, and stays as long as it is named", async () => {
  const field = { field_name: "tongue", field_label: "Language", field_type: "number" };
  const { id } = (await call("POST", "/custom-fields/global", field)).body.data;
  const path = `/custom-fields/global/${id}`;
  const refused = await call("PATCH", "/workspace", { language_field: "tongue" });
  expect([refused.status, refused.body.error]).toEqual([
    400,
    "language_field: tongue has the type number: name a field of type text, textarea or select",
  ]);
  await call("PUT", path, { field_type: "text" });
  expect((await call("PATCH", "/workspace", { language_field: "tongue" })).status).toBe(200);
  const refusals = [
    await call("DELETE", path),
    await call("PUT", path, { is_active: false }),
    await call("PUT", path, { field_type: "number" }),
  ];
  expect(refusals.map(({ body }) => body.code)).toEqual(refusals.map(() => "CONFLICT"));
  expect(refusals[0]?.body.error).toMatch(
    /^The settings of the workspace use this field: .*language_field first$/,
  );
  const { used_by } = (await call("GET", "/custom-fields/global")).body.data.find(
    (one: { id: string }) => one.id === id,
  );
  expect(used_by).toMatchObject({ prevents_deletion: true, users: [{ kind: "workspace" }] });
  await call("PATCH", "/workspace", { language_field: null });
  expect((await call("PUT", path, { is_active: false })).status).toBe(200);
  expect((await call("DELETE", path)).status).toBe(200);
});

test("after the list or the person was deleted, the workspace's language counts", async () => {
  const { links, listId, email } = await oneMail();
  await setList(listId, { language: "de" });
  await db.run(sql`delete from memberships where mailing_list_id = ${listId}`);
  await db.run(sql`delete from subscribers where email = ${email}`);
  expect(await titleOf(visit(links.unsubscribe))).toBe("Sie sind abgemeldet");
  await call("DELETE", `/mailing-lists/${listId}`);
  expect(await titleOf(visit(links.unsubscribe))).toBe("You are unsubscribed");
});

test("a page whose reader is not known is in the browser's language", async () => {
  const at = (language: string) =>
    titleOf(fetch(`${service.url}/u/wrong`, { headers: { "Accept-Language": language } }));
  expect(await at("pt-BR,en;q=0.5")).toBe("Este link não funciona");
  expect(await at("xx")).toBe("This link does not work");
});

test("the pages have the brand's colours and footer, and no words of the list run into the sentence", async () => {
  const { links, listId } = await oneMail();
  await setList(listId, { language: "ar", name: "News <1>" });
  const brand = {
    accent_color: "#ffd400",
    display_name: "Shop",
    website: "https://shop.example",
    postal_address: "Weg 1\n1010 Wien",
  };
  await call("PATCH", "/brand", brand);
  const answer = await visit(links.unsubscribe);
  const page = await answer.text();
  expect(page).toContain('<html lang="ar" dir="rtl">');
  expect(page).toContain("«<strong><bdi>News &lt;1&gt;</bdi></strong>»");
  expect(page).toContain("--accent: #ffd400; --on-accent: #1b1f24; --edge: #");
  expect(page).toContain('<a href="https://shop.example/" rel="noopener noreferrer"><bdi>Shop</bdi></a>');
  expect(page).toContain('<p class="lines" dir="auto">Weg 1\n1010 Wien</p>');
  expect(answer.headers.get("content-security-policy")).not.toContain("unsafe");
});
