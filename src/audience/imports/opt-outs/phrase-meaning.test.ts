/** Names of columns that say who wants mail and who does not, in the words of many languages. */
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { meaningOf } from "./column-name-meaning.ts";
import { readOptOut } from "./read-cell.ts";

describe("a column about wanting mail counts, and no in its language takes the person out", () => {
  test.each([
    ["Email confirmed", "no"],
    ["email_verified", "false"],
    ["isEmailActive", "0"],
    ["Newsletter enabled", "False"],
    ["Accepts newsletter", "n"],
    ["Do you agree to receive our newsletter?", "No"],
    ["Send emails", "no"],
    ["Newsletter aktiv", "nein"],
    ["Newsletter empfangen (ja/nein)", "nein"],
    ["Newsletterempfang erlaubt", "Nein"],
    ["Möchte Newsletter erhalten", "nein"],
    ["Souhaite recevoir la newsletter", "non"],
    ["Accepte de recevoir des e-mails", "Non"],
    ["Desea recibir el boletín", "no"],
    ["Accetta il marketing", "No"],
    ["Aceita receber newsletter", "Não"],
    ["Toestemming nieuwsbrief", "nee"],
    ["Vill ha nyhetsbrev", "nej"],
    ["Ønsker nyhedsbrev", "nej"],
    ["Godtar markedsføring", "nei"],
    ["Haluaa uutiskirjeen", "ei"],
    ["Zgoda marketingowa", "nie"],
    ["Zgoda na newsletter", "nie"],
    ["Souhlas se zasíláním newsletteru", "ne"],
    ["Súhlas s newsletterom", "nie"],
    ["Hozzájárulás hírlevélhez", "nem"],
    ["Acord newsletter", "nu"],
    ["Privola za newsletter", "ne"],
    ["Согласие на рассылку", "нет"],
    ["Згода на розсилку", "ні"],
    ["Съгласие за бюлетин", "не"],
    ["Συναίνεση newsletter", "όχι"],
    ["E-posta izni", "hayır"],
    ["メルマガ希望", "いいえ"],
    ["メルマガ配信希望", "希望しない"],
    ["メール配信可否", "不可"],
    ["是否接收邮件", "否"],
    ["同意接收電子報", "否"],
    ["이메일 수신 동의", "아니오"],
    ["광고 수신 여부", "거부"],
  ])("%s: %s", (header, no) => {
    expect(meaningOf(header)).toEqual({ meaning: "active", certainty: "plain" });
    expect(readOptOut("active", no)).toBe("unsubscribed");
  });
});

describe("a column about leaving counts, and yes in its language takes the person out", () => {
  test.each([
    ["Hat sich abgemeldet", "ja"],
    ["Newsletterabmeldung", "Ja"],
    ["Werbewiderspruch", "ja"],
    ["Remove from list", "yes"],
    ["Signed off", "yes"],
    ["DND", "1"],
    ["Robinson", "1"],
    ["Refuses marketing", "yes"],
    ["Email deleted", "true"],
    ["S'est désinscrit", "oui"],
    ["Pas de newsletter", "oui"],
    ["Refuse les e-mails", "oui"],
    ["Ne veut pas recevoir la newsletter", "oui"],
    ["Se ha dado de baja", "sí"],
    ["Rechaza publicidad", "sí"],
    ["Si è disiscritto", "sì"],
    ["Heeft zich afgemeld", "ja"],
    ["Wil geen nieuwsbrief", "ja"],
    ["Har avregistrerat sig", "ja"],
    ["Har meldt fra newsletter", "ja"],
    ["Vill inte ha nyhetsbrev", "ja"],
    ["Wypisał się", "tak"],
    ["Nie chce newslettera", "tak"],
    ["Odmítá newsletter", "ano"],
    ["Не отправлять рассылку", "да"],
    ["Отказ от рассылки", "да"],
    ["メルマガ不要", "はい"],
    ["不接收邮件", "是"],
    ["메일 수신 거부", "예"],
  ])("%s: %s", (header, yes) => {
    expect(meaningOf(header)).toEqual({ meaning: "unsubscribed", certainty: "plain" });
    expect(readOptOut("unsubscribed", yes)).toBe("unsubscribed");
  });
});

describe("a switch without a word for mail asks the sender, once a cell takes a person out", () => {
  test.each([
    "active",
    "Active?",
    "is_active",
    "isActive",
    "Aktiv",
    "Aktiv (ja/nein)",
    "actif",
    "activo",
    "attivo",
    "ativo",
    "actief",
    "aktywny",
    "Aktivní",
    "Активен",
    "有効",
    "启用",
    "활성",
    "enabled",
    "isEnabled",
    "confirmed",
    "Bestätigt",
    "Confirmé",
    "verified",
    "is_verified",
    "valid",
    "Is this subscriber confirmed",
    "user_enabled",
  ])("%s, by a no", (header) => {
    expect(meaningOf(header)).toEqual({ meaning: "active", certainty: "switch" });
  });

  test.each([
    "is_deleted",
    "deleted_at",
    "Deleted",
    "isDisabled",
    "inactive",
    "Inaktiv",
    "Gelöscht",
    "supprimé",
    "eliminado",
    "verwijderd",
    "is_banned",
    "Archived",
    "not active",
    "удалён",
    "無効",
    "已删除",
  ])("%s, by a yes", (header) => {
    expect(meaningOf(header)).toEqual({ meaning: "unsubscribed", certainty: "switch" });
  });
});

test.each([
  "Toestemming",
  "Samtycke",
  "Souhlas",
  "Zgoda",
  "Hozzájárulás",
  "Согласие",
  "同意",
  "동의",
  "Bulk Email",
])("%s asks the sender: it may be about something else", (header) => {
  expect(meaningOf(header)).toEqual({ meaning: "active", certainty: "doubtful" });
});

test.each([
  "Email type",
  "Mail server",
  "Active orders",
  "Phone confirmed",
  "Offer accepted",
  "Payment verified",
  "Will",
  "May",
  "Interests",
  "Prima",
  "Adresse",
  "Kunde",
  "会員番号",
  "住所",
  "姓名",
  "Liste",
  "Contact owner",
  "Promo code",
])("%s has nothing to do with mail that is wanted", (header) => {
  expect(meaningOf(header)).toBeUndefined();
});

test.each(["Bounced", "invalid", "Valid", "Unknown"])(
  "Email deliverability status: %s is a state",
  (cell) => {
    expect(meaningOf("Email deliverability status")).toEqual({ meaning: "status", certainty: "plain" });
    expect(readOptOut("status", cell)).toBe(
      { Bounced: "bounced", invalid: "bounced", Valid: "active", Unknown: "nothing" }[cell],
    );
  },
);

test("names of any length and any words are read in linear time", () => {
  for (const piece of ["newsletter", "メール", "mail ", "可否"])
    expectLinearCost(25_000, (size) => `${piece.repeat(size / piece.length)}x`, meaningOf);
});
