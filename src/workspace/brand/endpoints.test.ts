import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, clock } = service;
const change = (body: unknown) => call("PATCH", "/brand", body);

const none = {
  display_name: null,
  website: null,
  logo_media_id: null,
  logo_url: null,
  accent_color: null,
  background_color: null,
  text_color: null,
  footer_text: null,
  postal_address: null,
  accent_text_color: "#ffffff",
  updated_at: null,
};

test("a workspace begins without a brand, and no other workspace sees its own", async () => {
  const { key } = await service.newWorkspace();
  expect((await call("GET", "/brand", undefined, { key })).body.data).toEqual(none);
  await change({
    display_name: " Shop ",
    website: "https://Shop.example",
    postal_address: " Weg 1\r\n1010 Wien ",
  });
  const { data } = (await call("GET", "/brand")).body;
  expect(data).toEqual({
    ...none,
    display_name: "Shop",
    website: "https://shop.example/",
    postal_address: "Weg 1\n1010 Wien",
    updated_at: clock.now().toISOString(),
  });
  await change({ display_name: null, footer_text: "  " });
  expect((await call("GET", "/brand")).body.data).toMatchObject({
    display_name: null,
    footer_text: null,
    website: "https://shop.example/",
  });
  expect((await call("GET", "/brand", undefined, { key })).body.data).toEqual(none);
});

test.each([
  ["#FFD400", "#1b1f24"],
  ["#0b5cad", "#ffffff"],
  ["#777", "#000000"],
  ["#000", "#ffffff"],
])("the text on the accent %s is %s, whichever can be read", async (accent_color, text) => {
  const { body } = await change({ accent_color });
  expect([body.data.accent_color.length, body.data.accent_text_color]).toEqual([7, text]);
});

test("text that is hard to read on the background is refused, and nothing changes", async () => {
  expect((await change({ background_color: "#fff", text_color: "#767676" })).status).toBe(200);
  const refused = await change({ text_color: "#888888", display_name: "Other" });
  expect([refused.status, refused.body.details[0].field]).toEqual([400, "text_color"]);
  expect(refused.body.error).toContain("a contrast of 3.54; at least 4.5");
  expect((await call("GET", "/brand")).body.data.display_name).not.toBe("Other");
  const dark = await change({ background_color: "#101010", text_color: null });
  expect([dark.status, dark.body.error]).toEqual([
    400,
    expect.stringContaining("choose a lighter text_color"),
  ]);
  expect((await change({ background_color: "#101010", text_color: "#eee" })).status).toBe(200);
});

test.each([
  [{ accent_color: "red" }, "accent_color"],
  [{ accent_color: "#12345" }, "accent_color"],
  [{ accent_color: "#000;}*{" }, "accent_color"],
  [{ text_color: "" }, "text_color"],
  [{ website: "http://shop.example" }, "website"],
  [{ website: "javascript:alert(1)" }, "website"],
  [{ website: "https://user:pw@shop.example" }, "website must have no user name"],
  [{ website: `https://shop.example/${"声".repeat(300)}` }, "website must have at most 2000 characters"],
  [{ website: "https://" }, "website"],
  [{ website: "https://shop\r\n.example" }, "website"],
  [{ website: "https://shop.example/{{ email }}" }, "website"],
  [{ display_name: "a\nb" }, "display_name"],
  [{ footer_text: "Hi {{ first_name }}" }, "footer_text"],
  [{ footer_text: `${"x\n".repeat(10)}x` }, "footer_text"],
  [{ postal_address: "a\u0000b" }, "postal_address"],
  [{ postal_address: "\ud83d" }, "postal_address"],
  [{ postal_address: "x".repeat(1001) }, "postal_address"],
])("%j is refused, naming %s", async (body, field) => {
  const answer = await change(body);
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, "VALIDATION_ERROR"]);
  expect(JSON.stringify(answer.body)).toContain(field);
});
