/**
 * Parity: what the test endpoint says of a value, and what becomes of a message to it. A plain evaluator over the lists
 * as they were made is the third voice.
 */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { findMessage } from "#messages/store.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { newList } from "#test/support/audience.ts";
import { draft } from "#test/support/drafts.ts";
import { startService } from "#test/support/service.ts";
import { insertSegment } from "#test/support/suppression.ts";
import { addressOf, findSuppressions } from "./suppression-check.ts";

const service = await startService();
const { database, workspaceId, call } = service;

const locals = ["ada", "Ada", "ADA+shop", "zo\u00eb", "zoe\u0308", "bob"];
const domains = ["example.com", "example.org", "mail.example.com", "xn--mnchen-3ya.example"];
const scopes = ["global", "mailing_list", "segment"] as const;
type Scope = (typeof scopes)[number];

const address = fc.record({ localpart: fc.constantFrom(...locals), domain: fc.constantFrom(...domains) });
const listSpec = fc.record({
  scope: fc.constantFrom(...scopes),
  place: fc.nat({ max: 1 }),
  is_active: fc.boolean(),
  addresses: fc.array(address, { maxLength: 4 }),
  domains: fc.array(fc.constantFrom("Example.com.", "@example.org", "MÜNCHEN.example"), { maxLength: 1 }),
});
type ListSpec = typeof listSpec extends fc.Arbitrary<infer Spec> ? Spec : never;

/** Two mailing lists with a segment each. */
const places: { mailingListId: string; segmentId: string }[] = [];
beforeAll(async () => {
  for (const name of ["one", "two"]) {
    const mailingListId = await newList(database, workspaceId, name);
    places.push({
      mailingListId,
      segmentId: await insertSegment(database, workspaceId, mailingListId, name),
    });
  }
});

/** The rule in plain words: same letters in any case and form, or the whole domain. */
function holds(spec: ListSpec, { localpart, domain }: { localpart: string; domain: string }): boolean {
  const same = (text: string) => text.normalize("NFC").toLowerCase();
  const whole = { "Example.com.": "example.com", "@example.org": "example.org" } as Record<string, string>;
  return (
    spec.addresses.some((one) => same(one.localpart) === same(localpart) && one.domain === domain) ||
    spec.domains.some((one) => (whole[one] ?? "xn--mnchen-3ya.example") === domain)
  );
}

async function makeList(spec: ListSpec): Promise<string> {
  const { mailingListId = "", segmentId = "" } = places[spec.place] ?? {};
  const { body } = await call("POST", "/suppression-lists", {
    name: "Random",
    suppression_scope: spec.scope,
    mailing_list_id: mailingListId,
    segment_id: segmentId,
    is_active: spec.is_active,
  });
  const values = [
    ...spec.addresses.map(({ localpart, domain }) => `${localpart}@${domain}`),
    ...spec.domains,
  ];
  if (values.length > 0) {
    await call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: values.join("\n") });
  }
  return body.data.id;
}

const applies = (spec: ListSpec, to: { scope: Scope; place: number }): boolean =>
  spec.scope === "global" ||
  (spec.scope === to.scope && spec.place === to.place) ||
  // A campaign to a segment is one to its mailing list as well.
  (spec.scope === "mailing_list" && to.scope === "segment" && spec.place === to.place);

test("a message is refused exactly when the test of some list that applies to it says suppressed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(listSpec, { minLength: 1, maxLength: 4 }),
      fc.array(address, { minLength: 1, maxLength: 6 }),
      async (specs, recipients) => {
        const ids = await Promise.all(specs.map(makeList));
        const says = async (id: string, test_value: string) =>
          (await call("POST", `/suppression-lists/${id}/test`, { test_value })).body.data.suppressed;
        for (const recipient of recipients) {
          const value = `${recipient.localpart}@${recipient.domain}`;
          const answers = await Promise.all(ids.map((id) => says(id, value)));
          expect(answers).toEqual(specs.map((spec) => spec.is_active && holds(spec, recipient)));

          const kinds = scopes.flatMap((scope) => [0, 1].map((place) => ({ scope, place })));
          const verdicts = await findSuppressions(
            database,
            kinds.map(({ scope, place }) => ({
              workspaceId,
              address: addressOf(recipient),
              domain: recipient.domain,
              mailingListId: scope === "global" ? null : (places[place]?.mailingListId ?? null),
              segmentId: scope === "segment" ? (places[place]?.segmentId ?? null) : null,
            })),
          );
          expect(verdicts.map((verdict) => verdict !== undefined)).toEqual(
            kinds.map((kind) => specs.some((spec, at) => answers[at] === true && applies(spec, kind))),
          );

          const message = draft(workspaceId, value);
          await insertDrafts(database, [message]);
          const { status } = (await findMessage(database, workspaceId, message.message.id)) ?? {};
          expect(status).toBe(verdicts[0] === undefined ? "queued" : "suppressed");
        }
        await Promise.all(ids.map((id) => call("DELETE", `/suppression-lists/${id}`)));
      },
    ),
    { numRuns: 40 },
  );
});

test("each recipient is checked alone, in the order given", async () => {
  const { id } = (await call("POST", "/suppression-lists", { name: "Bad ones" })).body.data;
  await call("POST", `/suppression-lists/${id}/entries`, { entries: "bad7@example.net\nbad.example" });
  const stranger = (await service.newWorkspace()).workspaceId;
  const recipients = Array.from({ length: 20 }, (_, at) => ({
    workspaceId: at === 8 ? stranger : workspaceId,
    address: at === 8 ? "bad7@example.net" : `bad${at}@example.net`,
    domain: at === 3 ? "bad.example" : "example.net",
  }));
  const verdicts = await findSuppressions(database, recipients);
  expect(verdicts.flatMap((verdict, at) => (verdict ? [[at, verdict.reason]] : []))).toEqual([
    [3, "domain"],
    [7, "manual"],
  ]);
});
