import { describe, expect, test } from "vitest";
import { renderHeaders } from "#mail/message/encode-header.ts";
import { ApiError } from "#platform/errors.ts";
import { readCustomHeaders } from "./read-custom-headers.ts";

function refusal(text: string): string {
  try {
    readCustomHeaders(text);
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  return "accepted";
}

describe("custom headers", () => {
  test.each([
    ["", []],
    [" \r\n ", []],
    ["X-Tag: a b", [["X-Tag", "a b"]]],
    [
      "X-One: 1\r\nX-Two: 2\r\n",
      [
        ["X-One", "1"],
        ["X-Two", "2"],
      ],
    ],
    ["X-Long: a\r\n b\n\tc", [["X-Long", "a b c"]]],
    ["X-Url:https://x.test/?a=b", [["X-Url", "https://x.test/?a=b"]]],
    ["X-Name: Zoë", [["X-Name", "Zoë"]]],
    ["In-Reply-To: <1@x.test>", [["In-Reply-To", "<1@x.test>"]]],
  ])("%j are %j", (text, headers) => {
    expect(readCustomHeaders(text)).toEqual(headers);
  });

  test.each(
    (
      "From To Cc Bcc Reply-To Sender Subject Date Message-ID Return-Path Received DKIM-Signature MIME-Version " +
      "Content-Type content-transfer-encoding List-Unsubscribe LIST-UNSUBSCRIBE-POST List-Id Feedback-ID Precedence " +
      "Auto-Submitted ARC-Seal Authentication-Results Resent-To X-Posthaste-Message CFBL-Address"
    ).split(" "),
  )("%s is ours", (name) => {
    expect(refusal(`X-Mine: 1\n${name}: x`)).toContain(
      `custom_headers line 2: ${name} is written by the service`,
    );
  });

  test.each([
    ["no colon", "X-One: 1\nhello", "custom_headers line 2: a header is written Name: value"],
    [
      "a blank line, behind which a body would begin",
      "X-One: 1\r\n\r\n<p>x</p>",
      "custom_headers line 2: a header is written Name: value",
    ],
    ["a line that continues nothing", " X-One: 1", "custom_headers line 1: a header's name has letters"],
    ["a blank in a name", "X One: 1", "custom_headers line 1: a header's name has letters"],
    ["a blank behind a name", "Bcc : x@x.test", "custom_headers line 1: a header's name has letters"],
    ["another alphabet in a name", "X-Ä: 1", "custom_headers line 1: a header's name has letters"],
    ["no name", ": 1", "custom_headers line 1: a header's name has letters"],
    [
      "a long name",
      `X-${"a".repeat(80)}: 1`,
      "custom_headers line 1: a header's name has at most 76 characters",
    ],
    ["no value", "X-One:  ", "custom_headers line 1: X-One has no value"],
    [
      "a carriage return",
      "X-One: 1\rBcc: x@x.test",
      "custom_headers line 1: X-One: Remove the line break U+000D",
    ],
    [
      "a line break of Unicode",
      "X-One: 1\u2028Bcc: x@x.test",
      "custom_headers line 1: X-One: Remove the line break U+2028",
    ],
    ["a NUL", "X-One: 1\0", "custom_headers line 1: X-One: Remove the control character U+0000"],
    [
      "a merge tag",
      "X-One: {{ email }}",
      "custom_headers line 1: X-One: merge tags are not replaced in headers",
    ],
    ["a name twice", "X-One: 1\nx-one: 2", "custom_headers line 2: x-one is given twice"],
    [
      "a long value",
      `X-One: ${"a".repeat(999)}`,
      "custom_headers line 1: X-One must be at most 998 characters",
    ],
    ["more than 8 KB", "X-One: é\n".repeat(900), "custom_headers must be at most 8 KB"],
    [
      "more than 50",
      Array.from({ length: 51 }, (_, at) => `X-${at}: 1`).join("\n"),
      "custom_headers may hold at most 50 headers",
    ],
  ])("with %s are refused with the line", (_what, text, message) => {
    expect(refusal(text)).toContain(message);
  });

  test("are refused line by line, all at once", () => {
    expect(refusal("From: a\nX-One: 1\nTo: b")).toBe(
      "custom_headers line 1: From is written by the service: from_email and from_name say who sends; " +
        "custom_headers line 3: To is written by the service",
    );
  });

  test("that are accepted can be sent, one a line", () => {
    const headers = readCustomHeaders("X-One: a\r\n  b\nX-Two: c");
    expect(renderHeaders(headers)).toBe("X-One: a b\r\nX-Two: c\r\n");
  });
});
