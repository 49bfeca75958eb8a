import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { decodeHeader, decodeText } from "./charset.ts";

describe("the charset of a text without a declared charset is guessed", () => {
  test.each([
    ["windows-1251", "Ваше письмо для ann@one.example не доставлено: пользователь не найден"],
    ["windows-1251", "Недоставленное письмо"],
    ["koi8-r", "Ваше письмо для ann@one.example не доставлено: ящик переполнен"],
    ["gb18030", "您发给 ann@one.example 的邮件无法投递，收件人不存在。"],
    ["big5", "您寄給 ann@one.example 的郵件無法投遞，收件人不存在。"],
    ["shift_jis", "ann@one.example 宛のメールは配信できませんでした。"],
    ["euc-jp", "ann@one.example 宛のメールは配信できませんでした。"],
    ["euc-kr", "ann@one.example 님에게 메일을 전송하지 못했습니다."],
    ["windows-1250", "Twoja wiadomość do ann@one.example nie została dostarczona. Skrzynka jest pełna."],
    ["iso-8859-9", "iletiniz teslim edilemedi. Kullanıcı bulunamadı."],
    ["iso-8859-7", "Το μήνυμά σας δεν παραδόθηκε"],
    ["windows-1255", "ההודעה לא נמסרה"],
    ["windows-1252", "Ihre Nachricht konnte nicht zugestellt werden. Postfach überfüllt."],
    ["windows-1252", "Votre message n'a pas pu être remis : boîte pleine."],
    ["windows-1252", "El buzón está lleno"],
    ["windows-1252", "Meddelandet kunde inte levereras. Mottagarens brevlåda är full på servern"],
    ["windows-1252", "Din meddelelse kunne ikke leveres på grund af fejl. Prøv igen"],
    ["windows-1252", "Undelivered – see the “reason” below"],
    ["utf8", "Доставка не удалась"],
  ])("%s: %s", (charset, text) => {
    const octets = iconv.encode(text, charset);
    for (const declared of [undefined, "us-ascii", "unknown-8bit"]) {
      expect(decodeText(octets, declared)).toBe(text);
    }
  });
});

describe("UTF-8 text declared with a single-byte charset is read as UTF-8", () => {
  test.each(["iso-8859-1", "ISO-8859-15", "windows-1252", "cp1251", "koi8-r", "latin1", "us-ascii", "utf-8"])(
    "%s",
    (charset) => {
      for (const text of ["Échec de la remise : boîte pleine", "Письмо не доставлено"]) {
        expect(decodeText(Buffer.from(text), charset)).toBe(text);
        expect(decodeHeader(Buffer.from(text).toString("latin1"), charset)).toBe(text);
      }
    },
  );

  test("a declared charset that fits is used", () => {
    expect(decodeText(iconv.encode("Größe", "iso-8859-1"), "iso-8859-1")).toBe("Größe");
    expect(decodeText(iconv.encode("Письмо", "koi8-r"), "koi8-r")).toBe("Письмо");
    expect(decodeText(iconv.encode("郵件", "big5"), "big5")).toBe("郵件");
  });
});

test("guessing the charset of a long text takes linear time", () => {
  const textOf = (size: number) => `${"a".repeat(5 * size)}\xe9\xc3${"\xf0\xcf\xc4\xd4\n".repeat(size)}`;
  expectLinearCost(
    25_000,
    (size) => Buffer.from(textOf(size), "latin1"),
    (octets) => decodeText(octets, undefined),
  );
});
