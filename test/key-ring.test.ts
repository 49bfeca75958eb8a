/** After a rotation, values that an earlier secret key sealed or signed stay valid until that key is removed. */
import { createPublicKey } from "node:crypto";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { signSignupLink, signupKeys } from "#audience/signup-forms/tokens.ts";
import { returnPathKeys } from "#delivery/compose/compose-leased-message.ts";
import { signingKey } from "#identity/dkims/signing-key.ts";
import { findRouting } from "#identity/routing-rules/load-routing.ts";
import { senderLinkKeys, signSenderLink } from "#identity/verified-senders/confirmation-token.ts";
import { encodeReturnPath } from "#mail/bounces/verp.ts";
import { newId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { readReceiptToken, receiptKeys, receiptLink } from "#sending/sms/receipt-link.ts";
import { mailLinkKeys, mailLinks } from "#tracking/link-tokens.ts";
import { BOUNCE_DOMAIN, complaintReport, deliveryReport, startReturns } from "./support/returns.ts";
import { insertVerifiedDomain } from "./support/sender-domain.ts";
import { sentCampaign } from "./support/tracked-campaign.ts";

const OLD = "the key in use until the rotation began";
const NEW = "the key that the rotation has brought in";
const FOREIGN = "a key that was never in the ring";

const returns = await startReturns(undefined, [NEW, OLD]);
const { service, deliver, receive, message } = returns;
const { database, workspaceId, call, clock, url } = service;
const before = createSecrets(OLD);
const after = createSecrets(NEW, OLD);
const foreign = createSecrets(FOREIGN);
const signers = [
  ["the earlier key", before, true],
  ["the first key", after, true],
  ["a foreign key", foreign, false],
] as const;

test.each(signers)("links in mails signed with %s", async (_, secrets, isGood) => {
  const { mails } = await sentCampaign(database, workspaceId, {
    base: url,
    deliveredAt: clock.now(),
    html: "<p>Spring</p>",
  });
  const messageId = mails[0]?.messageId ?? "";
  const links = mailLinks({ workspaceId, messageId }, url, mailLinkKeys(secrets).signing);
  const statusOf = async (address: string, method = "GET") =>
    (await fetch(address, { method, redirect: "manual" })).status;
  const statuses = {
    open: await statusOf(links.pixel),
    click: await statusOf(links.tracked(0)),
    carried: await statusOf(links.tracked(7, "https://shop.example/once", true)),
    view: await statusOf(links.view),
    unsubscribe: await statusOf(links.unsubscribe, "POST"),
  };
  expect(statuses).toEqual(
    isGood
      ? { open: 200, click: 302, carried: 302, view: 200, unsubscribe: 200 }
      : { open: 404, click: 404, carried: 404, view: 404, unsubscribe: 404 },
  );
});

test.each(signers)(
  "a bounce and a complaint to return paths signed with %s",
  async (name, secrets, isGood) => {
    const local = name.replaceAll(" ", "-");
    const bounced = await deliver(`${local}@example.test`);
    const complained = await deliver(`${local}-too@example.test`);
    const tokenOf = (id: string) => encodeReturnPath(workspaceId, id, returnPathKeys(secrets).signing);
    await returns
      .receive(`${tokenOf(bounced)}@${BOUNCE_DOMAIN}`, deliveryReport(`${local}@example.test`))
      .catch((refused: Error) =>
        expect([isGood, refused.message]).toEqual([false, expect.stringMatching(/^5/)]),
      );
    expect((await message(bounced)).status).toBe(isGood ? "bounced" : "delivered");
    const report = complaintReport(tokenOf(complained));
    expect((await receive(`fbl@${BOUNCE_DOMAIN}`, report)).result === "complained").toBe(isGood);
  },
);

test.each(signers)("confirmations and receipts signed with %s", async (name, secrets, isGood) => {
  const list = (await call("POST", "/mailing-lists", { name: "Weekly" })).body.data.id;
  await call("PUT", `/mailing-lists/${list}/signup-form`, { is_active: true });
  const form = signSignupLink({ workspaceId, id: list }, signupKeys(secrets).form.signing);
  expect((await fetch(`${url}/s/${form}`)).status).toBe(isGood ? 200 : 404);

  const requestId = newId();
  await database.run(sql`
    insert into signup_requests (workspace_id, mailing_list_id, email, id, requested_at)
    values (${workspaceId}, ${list}, ${`${name.replaceAll(" ", "-")}@example.test`}, ${requestId}, ${clock.now()})`);
  const confirmation = signSignupLink(
    { workspaceId, id: requestId },
    signupKeys(secrets).confirmation.signing,
  );
  expect((await fetch(`${url}/s/confirm/${confirmation}`)).status).toBe(isGood ? 200 : 404);

  const expiresAt = new Date(clock.now().getTime() + 60_000);
  const email = `${name.replaceAll(" ", "-")}@sender.test`;
  const senderId = (await call("POST", "/verified-senders", { email })).body.data.id;
  const link = { workspaceId, senderId, number: 1, expiresAt };
  const sender = signSenderLink(link, senderLinkKeys(secrets).signing);
  expect((await fetch(`${url}/verify-sender/${sender}`)).status).toBe(isGood ? 200 : 404);

  const [, token = ""] = receiptLink({ workspaceId, id: requestId }, "", receiptKeys(secrets).signing).split(
    "/sms/receipts/",
  );
  const receipt = receiptKeys(after).read((key) => readReceiptToken(token, key));
  expect(receipt?.gatewayId).toBe(isGood ? requestId : undefined);
});

test("mail is signed with a DKIM key that the earlier secret key sealed", async () => {
  await insertVerifiedDomain(database, before, workspaceId, "sealed.test");
  const own = await signingKey(database, after, workspaceId, "sealed.test");
  const earlier = await signingKey(database, before, workspaceId, "sealed.test");
  if (own === null || earlier === null) throw new Error("no signing key");
  const publicOf = (key: typeof own) =>
    createPublicKey(key.privateKey).export({ type: "spki", format: "pem" });
  expect(publicOf(own)).toBe(publicOf(earlier));
  await expect(signingKey(database, foreign, workspaceId, "sealed.test")).rejects.toThrow("no secret key");
});

test("relay addresses are sealed with the first key and opened with any", async () => {
  const relay = "smtp://user:password@smart.example:587";
  const rule = { name: "Relay", action: { relay_url: relay } };
  const made = await call("POST", "/routing-rules", rule);
  expect(made.status).toBe(201);
  const { rules } = await findRouting(database, createSecrets(FOREIGN, OLD, NEW), workspaceId);
  expect(rules[0]?.action).toEqual({ relay_url: relay });
  await expect(findRouting(database, before, workspaceId)).rejects.toThrow("no secret key");
});
