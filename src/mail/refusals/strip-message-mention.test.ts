import { describe, expect, test } from "vitest";
import { classifyReply, enhancedCode } from "./classify-reply.ts";

/** Classifies a refusal as a bounce quotes it, with or without a reply code. */
function judge(reply: string) {
  const code = Number.parseInt(reply, 10);
  return classifyReply({
    code: Number.isNaN(code) ? null : code,
    enhanced: enhancedCode(reply),
    text: reply,
    stage: "report",
  });
}

describe("the reason decides if a refusal names our message: no such address", () => {
  test.each([
    "550 5.1.1 Message from <news@ours.example> could not be delivered: no such user",
    "550 5.1.1 Your message from news@ours.example could not be delivered because the recipient does not exist",
    "550 Mail from <news@ours.example> to <x@y.example> rejected: no such user",
    "User unknown. Message from <news@ours.example> could not be delivered to x@y.example",
    "550 5.1.1 messages from news@ours.example cannot be delivered: mailbox not found",
    "550 The mail from <news@ours.example> to x@y.example was not delivered. Reason: user does not exist.",
    "550 5.1.1 Mail from news@ours.example has been rejected, unknown recipient",
    "550 5.1.1 Mail from news@ours.example refused: no such user here",
    "550 Message from news@ours.example is undeliverable: user unknown",
    "550 Message from news@ours.example undeliverable: user unknown",
    "550 Delivery of message from news@ours.example failed: user unknown",
    "550 Unable to deliver mail from news@ours.example: no such mailbox",
    "550 Cannot accept message from news@ours.example: no such user",
    "550 Mail sent from news@ours.example to x@y.example was rejected: user unknown",
    "550 Message sent by news@ours.example was rejected: user unknown",
    "550 Emails from news@ours.example are not delivered, the account no longer exists",
    "550 5.1.1 Message from news@ours.example could not be delivered",
    "550 5.1.1 Nachricht von <news@ours.example> konnte nicht zugestellt werden: Benutzer unbekannt",
    "550 Le message de <news@ours.example> n'a pas pu être remis : utilisateur inconnu",
    "550 Le message de <news@ours.example> a été refusé : utilisateur inconnu",
    "550 Nachricht von <news@ours.example> abgelehnt: Empfänger unbekannt",
    "550 El mensaje de <news@ours.example> fue rechazado: usuario desconocido",
    "550 Il messaggio da <news@ours.example> è stato rifiutato: utente sconosciuto",
    "550 Сообщение от news@ours.example отклонено: пользователь не найден",
    "550 Message to x@y.example from news@ours.example rejected: user unknown",
    "550 user unknown; message from news@ours.example rejected",
    "550 5.1.1 Rejected message from news@ours.example: user unknown",
    "550 5.1.1 Rejecting mail from news@ours.example, no such recipient",
    "550 Message from mailer.ours.example could not be delivered: no such user",
    "550 From <news@ours.example> to <x@y.example>: user unknown",
    "550 Mail from news@ours.example for x@y.example was refused. The account does not exist",
  ])("%s", (reply) => {
    expect(judge(reply).category).toBe("NoEmail");
  });
});

describe("the reason decides if a refusal names our message: a full mailbox", () => {
  test.each([
    "Mailbox full. Message from ‹news@ours.example› could not be delivered",
    "Mailbox full. Message from <news@ours.example> could not be delivered",
    "552 5.2.2 Message from <news@ours.example> was not delivered: mailbox full",
    "552 Message from <news@ours.example> was not delivered: mailbox full",
    "550 E-mail from news@ours.example was rejected: mailbox of x@y.example is full",
    "550 Your email from news@ours.example has not been delivered because the mailbox x@y.example is full",
    "550 Mensagem de news@ours.example rejeitada: caixa cheia",
  ])("%s", (reply) => {
    expect(judge(reply).category).toBe("MailboxFull");
  });
});

describe('"our message could not be delivered" is no reason', () => {
  test.each([
    "Disk error. Message from <news@ours.example> could not be delivered",
    "550 Message from news@ours.example could not be delivered",
  ])("%s", (reply) => {
    expect(judge(reply).category).toBe("Undetermined");
  });
});

describe("the reason decides if a refusal names our message: a closed mailbox", () => {
  test.each([
    '550 Message from "Acme News" <news@ours.example> was rejected, the recipient\'s account has been disabled',
    "550 5.2.1 Mail from news@ours.example refused: account disabled",
  ])("%s", (reply) => {
    expect(judge(reply).category).toBe("MailboxDisabled");
  });
});

describe("a refusal that may mean the sender's address does not blame the recipient", () => {
  test.each([
    "550 Mail from <news@ours.example> rejected: no such user",
    "550 Mail from <news@ours.example> rejected: address does not exist",
    "550 Mail from <news@ours.example> rejected: domain does not exist",
    "550 MAIL FROM: <news@ours.example> rejected: no such user",
    "550 Mail from news@ours.example to x@y.example rejected: sender address does not exist",
  ])("%s", (reply) => {
    expect(judge(reply).category).toBe("PolicyRejected");
  });
});

describe("a refusal of our address or server stays one, whatever else it says", () => {
  test.each([
    "550 Messages from news@ours.example are blocked",
    "550 5.1.1 Messages from news@ours.example are rejected by our policy",
    "550 Message from news@ours.example could not be delivered: your IP is on a blacklist",
    "550 Messages from 192.0.2.1 weren't sent",
    "550 5.1.1 Mail from 192.0.2.1 refused: no such user",
  ])("%s", (reply) => {
    expect(judge(reply).category).toBe("Reputation");
  });
});

test.each([
  ["550 5.1.8 Mail from <news@ours.example> rejected: domain does not exist", "AuthenticationFailed"],
  ["550 Mail from news@ours.example to x@y.example rejected: too many unknown users", "RateLimited"],
  ["550 Message from news@ours.example could not be delivered: message too large", "MessageTooLarge"],
  ["550 Message from news@ours.example could not be delivered: spam", "ContentRejected"],
])("%s is %s", (reply, category) => {
  expect(judge(reply)).toMatchObject({ category, suppress: false });
});
