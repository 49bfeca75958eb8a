import { describe, expect, test } from "vitest";
import { readBounce } from "./read-bounce.ts";

const VACATION =
  "I am on vacation until Monday and cannot receive mails.\nYour message was not delivered to me.\n";

function mail(header: string, body = VACATION): Buffer {
  return Buffer.from(`To: b.token@bounce.sender.example\n${header}\n\n${body}`.replace(/\n/g, "\r\n"));
}

const kindOf = (header: string, body?: string) => readBounce(mail(header, body))?.kind ?? null;

describe("an automatic reply is no bounce, whatever its sender is called", () => {
  test.each([
    [
      "its header and its subject",
      "Anna <anna@mailservice.example>\nSubject: Automatic reply: Your order\nAuto-Submitted: auto-replied",
    ],
    ["its subject alone", "Anna <anna@mailservice.example>\nSubject: Automatic reply: Your order"],
    [
      "Auto-Submitted alone",
      "Anna <anna@mail-delivery.example>\nSubject: Delivery failed\nAuto-Submitted: auto-replied",
    ],
    [
      "Auto-Submitted with a comment",
      "anna@smtp.example\nSubject: Delivery failed\nAuto-Submitted: auto-replied (vacation)",
    ],
    [
      "a display name of a mail system",
      '"Mail Delivery System" <anna@example.com>\nSubject: Out of office\nAuto-Submitted: auto-replied',
    ],
    [
      "a display name with an address in it",
      '"postmaster@example.com" <anna@example.com>\nSubject: Delivery failed\nX-Autoreply: yes',
    ],
    [
      "an encoded display name with an address in it",
      "=?utf-8?Q?=3Cmailer-daemon=40example.com=3E?= <anna@example.com>\nSubject: Delivery failed\nX-Autoreply: yes",
    ],
    ["X-Autorespond", "anna@postmaster.example\nSubject: Delivery failed\nX-Autorespond: Your order"],
    ["X-Auto-Reply", "anna@postmaster.example\nSubject: Undeliverable\nX-Auto-Reply: 1"],
    ["X-Autoresponder-Version", "anna@example.com\nSubject: Undeliverable\nX-Autoresponder-Version: 2"],
    ["X-Mail-Autoreply", "anna@example.com\nSubject: Undeliverable\nX-Mail-Autoreply: 1"],
    ["Precedence", "anna@example.com\nSubject: Undeliverable\nPrecedence: auto_reply"],
    ["X-Precedence", "anna@example.com\nSubject: Undeliverable\nX-Precedence: auto-reply"],
    ["Preference", "anna@example.com\nSubject: Undeliverable\nPreference: auto_reply"],
    ["X-Mailer", "anna@example.com\nSubject: Undeliverable\nX-Mailer: vacation 1.2.7"],
    ["Delivered-To", "anna@example.com\nSubject: Undeliverable\nDelivered-To: Autoresponder"],
    [
      "X-POST-MessageClass",
      "anna@example.com\nSubject: Undeliverable\nX-POST-MessageClass: 9; Autoresponder",
    ],
    ["X-FC-MachineGenerated", "anna@example.com\nSubject: Undeliverable\nX-FC-MachineGenerated: true"],
    ["X-Zarafa-Vacation", "anna@example.com\nSubject: Undeliverable\nX-Zarafa-Vacation: yes"],
    ["its sender address", "autoresponder@example.com\nSubject: Undeliverable"],
    [
      "Exchange's rules",
      "anna@example.com\nSubject: Undeliverable\nX-MS-Exchange-Inbox-Rules-Loop: anna@example.com",
    ],
    [
      "Exchange's out-of-office reply",
      "anna@example.com\nSubject: Automatic reply: Your order\nAuto-Submitted: auto-generated\nX-Auto-Response-Suppress: All",
    ],
    [
      "a ticket system's header",
      "support@example.com\nSubject: Re: Your order\nAuto-Submitted: auto-generated\nX-OTRS-Loop: yes",
    ],
    [
      "a list's refusal",
      "owner@lists.example\nPrecedence: bulk\nList-Id: <l.lists.example>\nSubject: Request to mailing list News rejected",
    ],
  ])("by %s", (_, header) => {
    expect(kindOf(`From: ${header}`)).toBe("auto_reply");
  });

  test.each([
    "Out of Office: Your order",
    "Out of the office Re: Your order",
    "RE: Your order (Out of office)",
    "Anna Smith is out of the office.",
    "Autoreply: Your order",
    "Auto: Your order",
    "Automatic response",
    "Auto Response from Anna",
    "Vacation reply",
    "On annual leave",
    "Away from my mail until Monday",
    "I am away",
    "Anna no longer works here",
    "Thank you for your message",
    "We have received your request",
    "[#4711] Ticket received: Your order",
    "Change of e-mail address",
    "My new e-mail address",
    "Read: Your order",
    "Automatische Antwort: Ihre Bestellung",
    "AW: Automatische Antwort",
    "Abwesenheitsnotiz: Ihre Bestellung",
    "Abwesend: Ihre Bestellung",
    "Außer Haus",
    "Eingangsbestätigung Ihrer Anfrage",
    "Meine neue E-Mail-Adresse",
    "Réponse automatique : Votre commande",
    "Absence du bureau : Votre commande",
    "Message d’absence",
    "Accusé de réception",
    "Respuesta automática: Su pedido",
    "Fuera de la oficina: Su pedido",
    "Fuera de oficina",
    "Ausente: Su pedido",
    "Risposta automatica: ordine",
    "Fuori sede: ordine",
    "Fuori ufficio",
    "Resposta automática: pedido",
    "Ausência temporária",
    "Fora do escritório",
    "Automatisch antwoord: bestelling",
    "Afwezig: bestelling",
    "Niet op kantoor",
    "Automatyczna odpowiedź: zamówienie",
    "Odpowiedź automatyczna: zamówienie",
    "Poza biurem",
    "Автоматический ответ: заказ",
    "Автоответ: заказ",
    "Вне офиса",
    "Автоматична відповідь: замовлення",
    "Автоматичен отговор: поръчка",
    "自動応答: ご注文",
    "自動返信：ご注文",
    "不在通知",
    "自动回复: 订单",
    "自動回覆：訂單",
    "자동 회신: 주문",
    "부재중 알림",
    "Autosvar: beställning",
    "Automatiskt svar: beställning",
    "Frånvarande: beställning",
    "Automatisk svar: ordre",
    "Fraværsmelding",
    "Automaattinen vastaus: tilaus",
    "Automatická odpověď: objednávka",
    "Automatická odpoveď: objednávka",
    "Automatikus válasz: rendelés",
    "Răspuns automat: comanda",
    "Otomatik Yanıt: sipariş",
    "Αυτόματη απάντηση: παραγγελία",
    "Automatski odgovor: narudžba",
    "תשובה אוטומטית: הזמנה",
    "رد تلقائي: طلب",
    "Trả lời tự động: đơn hàng",
    "Balasan otomatis: pesanan",
  ])("by the subject %j, encoded or raw", (subject) => {
    const encoded = `=?utf-8?B?${Buffer.from(subject).toString("base64")}?=`;
    expect(kindOf(`From: Anna <anna@mailservice.example>\nSubject: ${encoded}`)).toBe("auto_reply");
    expect(kindOf(`From: Anna <anna@mailservice.example>\nSubject: ${subject}`)).toBe("auto_reply");
  });

  test.each(["postmaster@example.com", "Mail System <>"])(
    "also from %s if nothing in it is about a delivery",
    (from) => {
      const body = "I am on holiday and cannot receive mails.\n";
      expect(kindOf(`From: ${from}\nSubject: Re: Your order\nAuto-Submitted: auto-replied`, body)).toBe(
        "auto_reply",
      );
      expect(kindOf(`From: ${from}\nSubject: Automatic reply: Your order`, body)).toBe("auto_reply");
    },
  );

  test("a challenge is recognized by its text", () => {
    const body =
      "Your message was not delivered yet, because you are a first time sender.\nPlease click here to verify that you are human:\nhttps://challenge.example/1\n";
    expect(kindOf("From: anna@example.com\nSubject: Your message was not delivered", body)).toBe(
      "auto_reply",
    );
  });

  test("a read receipt is an automatic reply (RFC 8098)", () => {
    const body =
      "--b\n\nYour message was not delivered in time and was deleted unread: 550 5.1.1 user unknown\n--b\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822;anna@example.com\nDisposition: automatic-action/MDN-sent-automatically; deleted\n\n--b--\n";
    const type = "Content-Type: multipart/report; report-type=disposition-notification; boundary=b";
    expect(kindOf(`From: postmaster@example.com\nSubject: Undeliverable\n${type}`, body)).toBe("auto_reply");
  });

  test.each([
    [
      "a number that is not a reply code",
      "Call 550 for the front desk, or room 421 after five.\nI cannot receive mails.\n",
    ],
    ["a date that looks like a status", "I am away from 4.5.24 until 5.1.24 and cannot receive mails.\n"],
    ["a telephone number", "Call +49 30 550 Anna or 555-4121 Bob. Your message was not delivered.\n"],
  ])("%s does not change that", (_, body) => {
    const header =
      "From: anna@example.com\nSubject: Automatic reply: Your order\nAuto-Submitted: auto-replied";
    expect(kindOf(header, body)).toBe("auto_reply");
  });

  test.each([
    [
      "Re: Your order was not delivered",
      "Why was it not delivered? The parcel was returned to sender, the driver was unable to deliver it.",
    ],
    ["AW: Problem bei der Zustellung", "Mein Paket konnte nicht zugestellt werden, können Sie helfen?"],
    ["Réf : Re : Livraison", "Mon colis n'a pas pu être livré."],
    ["答复: 投递失败", "我的包裹无法投递，请帮忙。"],
  ])("a person's reply that mentions a delivery is no automatic reply: %s", (subject, body) => {
    const header = `From: Anna <anna@example.com>\nIn-Reply-To: <1@sender.example>\nSubject: ${subject}`;
    expect(kindOf(header, `${body}\n`)).toBeNull();
  });

  test("a reply that says somebody left is no bounce, even without a sign of an automatic reply", () => {
    const body = "Anna no longer works here. Please write to bob@example.com.\n";
    expect(kindOf("From: Anna <anna@mailservice.example>\nSubject: Re: Your order", body)).toBeNull();
  });
});

describe("a bounce with the signs of an automatic reply is a bounce", () => {
  const FAILED = "Your message to anna@example.com could not be delivered.\n";

  test.each([
    ["from mailer-daemon", "Mailer-Daemon@mx.example.com", FAILED],
    ["from mailer_daemon", "Anna <MAILER_DAEMON@mx.example.com>", FAILED],
    ["from postmaster", "Postmaster <postmaster@example.com>", FAILED],
    ["from post_master", "post_master@carrier.example", FAILED],
    ["from a daemon without a domain", "MAILER-DAEMON (Mail Delivery System)", FAILED],
    ["that quotes a refusal", "noreply@example.com", `${FAILED}550 5.1.1 <anna@example.com>: user unknown\n`],
    [
      "that quotes a refusal without a status",
      "noreply@example.com",
      `${FAILED}550 <anna@example.com>: no such user here\n`,
    ],
    [
      "that quotes a refusal in qmail's form",
      "noreply@example.com",
      `${FAILED}Sorry, no mailbox here by that name. (#5.1.1)\n`,
    ],
  ])("%s", (_, from, body) => {
    const header = `From: ${from}\nSubject: Undelivered mail\nAuto-Submitted: auto-replied`;
    const bounce = readBounce(mail(header, body));
    expect(bounce?.kind).toBe("bounce");
    expect(bounce?.recipients.map(({ address }) => address)).toEqual(["anna@example.com"]);
  });

  test("with a delivery-status part", () => {
    const body =
      "--b\n\nnot delivered\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; a.example\n\nFinal-Recipient: rfc822;anna@example.com\nAction: failed\nStatus: 5.1.1\n\n--b--\n";
    const header =
      "From: Anna <anna@example.com>\nSubject: Automatic reply\nAuto-Submitted: auto-replied\nContent-Type: multipart/report; report-type=delivery-status; boundary=b";
    expect(kindOf(header, body)).toBe("bounce");
  });

  test.each([
    "Undeliverable: Automatic reply",
    "Mail delivery failed: Out of office hours in December",
    "Unzustellbar: Abwesenheitsnotiz",
    "Non remis : Réponse automatique",
  ])("if only the returned subject has such words: %s", (subject) => {
    expect(kindOf(`From: administrator@example.com\nSubject: ${subject}`, FAILED)).toBe("bounce");
  });

  test("through a list", () => {
    const header =
      "From: inetgw@example.com\nSubject: Mail could not be delivered\nPrecedence: bulk\nList-Id: <l.example>";
    expect(kindOf(header, FAILED)).toBe("bounce");
  });
});
