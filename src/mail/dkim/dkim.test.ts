import { generateKeyPairSync, hash } from "node:crypto";
import fc from "fast-check";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { describe, expect, test } from "vitest";
import { relaxedBody } from "#mail/message/dkim-canonicalization.ts";
import { type HeaderField, renderMessage } from "#mail/message/encode-header.ts";
import { dkimKeyMatches, dkimRecordValue, generateDkimKey, messageTokenHeader, signDkim } from "./dkim.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
const timestamp = new Date("2026-11-21T08:00:00.900Z");
const headers: readonly HeaderField[] = [
  ["From", '"Doe, Jane" <jane@example.com>'],
  ["To", "jörg@example.org"],
  ["Subject", "Some  news\r\n of the\tweek"],
  ["Date", "Sat, 21 Nov 2026 08:00:00 +0000"],
  ["Message-ID", "<1@example.com>"],
  ["List-Unsubscribe", "<https://t.example.com/u/1>"],
  ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
  ["Feedback-ID", "a:b:c:sender"],
  ["List-Id", "<l.example.com>"],
  [messageTokenHeader, "token"],
  ["X-Other", "not signed"],
  ["MIME-Version", "1.0"],
  ["Content-Type", "text/plain; charset=utf-8"],
  ["Content-Transfer-Encoding", "quoted-printable"],
];
const body = Buffer.from("Hello =\r\n  you \r\n\r\n.\r\n\r\n");

const sign = (fields: readonly HeaderField[] = headers, content: Buffer = body, domain = "example.com") =>
  signDkim({ headers: fields, body: [content], domain, selector: "ph1", privateKey, timestamp });

/** The results of an independent verifier that finds our key only at the right names. */
async function verify(message: Buffer | string): Promise<string[]> {
  const names = ["ph1._domainkey.example.com", "ph1._domainkey.example.net"];
  const { results } = await dkimVerify(message, {
    resolver: (name) => Promise.resolve(names.includes(name) ? [[dkimRecordValue(publicKey)]] : []),
  });
  return results.map(({ status }) => status.result);
}

describe("a signature", () => {
  test("passes an independent verifier", async () => {
    expect(await verify(renderMessage([["DKIM-Signature", await sign()], ...headers], [body]))).toEqual([
      "pass",
    ]);
  });

  test("passes for any body and any header text", async () => {
    const content = fc
      .array(fc.constantFrom(" ", "\t", "\r\n", "a", "=", ".", "ü"))
      .map((parts) => parts.join(""));
    const value = fc
      .array(fc.constantFrom(" ", "\t", "\r\n b", "ü", "x".repeat(70), ":", ";"))
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(content, value, async (text, subject) => {
        const fields: HeaderField[] = [
          ["From", "a@example.com"],
          ["Subject", `s${subject}`],
        ];
        const octets = Buffer.from(text);
        const signed: HeaderField[] = [["DKIM-Signature", await sign(fields, octets)], ...fields];
        expect(await verify(renderMessage(signed, [octets]))).toEqual(["pass"]);
      }),
      { numRuns: 200 },
    );
  });

  test("lists the fields it covers, From once more than it occurs, in folded lines", async () => {
    const value = await sign([...headers, ["Cc", "c@example.com"], ["Reply-To", "r@example.com"]]);
    expect(value.split("\r\n").every((line) => line.length <= 76)).toBe(true);
    const tags = new Map(
      value
        .replaceAll(/\s/g, "")
        .split(";")
        .map((tag) => [tag.slice(0, tag.indexOf("=")), tag]),
    );
    expect([...tags.keys()]).toEqual(["v", "a", "c", "d", "s", "t", "h", "bh", "b"]);
    expect(tags.get("t")).toBe("t=1795248000");
    expect(tags.get("h")).toBe(
      "h=From:From:To:Cc:Subject:Date:Message-ID:Reply-To:MIME-Version:Content-Type:Content-Transfer-Encoding:" +
        "List-Id:List-Unsubscribe:List-Unsubscribe-Post:Feedback-ID:X-Posthaste-Message",
    );
    expect(tags.get("bh")).toBe(`bh=${hash("sha256", relaxedBody(body), "base64")}`);
  });

  test("survives what relays do: trace fields, refolding, blanks at line ends, changed case of names", async () => {
    const relayed = [
      "Received: from a by b; Sat, 21 Nov 2026 08:00:01 +0000",
      `DKIM-Signature: ${(await sign()).replaceAll("\r\n ", "\r\n\t")}`,
      ...headers.map(([name, value]) => `${name.toUpperCase()}:\t${value.replaceAll(/\s+/g, "\r\n  ")} `),
      "",
      "Hello =  \r\n you\r\n\t\r\n.\r\n",
    ];
    expect(await verify(relayed.join("\r\n"))).toEqual(["pass"]);
  });

  test.each([
    ["another From is put in front", [["From", "evil@example.net"], ...headers]],
    ["another From is added behind", [...headers, ["From", "evil@example.net"]]],
    ["the subject changes", headers.map(([name, value]) => [name, name === "Subject" ? "other" : value])],
    ["one-click unsubscribing is cut off", headers.filter(([name]) => name !== "List-Unsubscribe-Post")],
    [
      "our token is exchanged",
      headers.map(([name, value]) => [name, name === messageTokenHeader ? "other" : value]),
    ],
  ] as [string, HeaderField[]][])("breaks when %s", async (_, fields) => {
    expect(await verify(renderMessage([["DKIM-Signature", await sign()], ...fields], [body]))).toEqual([
      "fail",
    ]);
  });

  test("breaks when anything is added to the body", async () => {
    const longer = Buffer.concat([body, Buffer.from("more\r\n")]);
    expect(await verify(renderMessage([["DKIM-Signature", await sign()], ...headers], [longer]))).toEqual([
      "neutral",
    ]);
  });

  test("of a second domain is added to the first and shares its relaxed body", async () => {
    const signing = {
      headers,
      body: ["never read"],
      relaxedBody: [relaxedBody(body)],
      selector: "ph1",
      privateKey,
      timestamp,
    };
    const values = await Promise.all(
      ["example.com", "example.net"].map((domain) => signDkim({ ...signing, domain })),
    );
    const fields = values.map((value): HeaderField => ["DKIM-Signature", value]);
    expect(await verify(renderMessage([...fields, ...headers], [body]))).toEqual(["pass", "pass"]);
  });

  test("is refused for a message without From", async () => {
    await expect(sign(headers.slice(1))).rejects.toThrow(/without a From/);
  });
});

describe("a key", () => {
  test("is generated in the requested size and published as a valid record", async () => {
    const made = await generateDkimKey(2048);
    expect(made.privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const record = dkimRecordValue(made.publicKey);
    expect(record).toMatch(/^v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A[A-Za-z0-9+/]+={0,2}$/);
    const signing = { headers, body: [body], domain: "example.com", selector: "ph1", timestamp };
    const value = await signDkim({ ...signing, privateKey: made.privateKey });
    const { results } = await dkimVerify(renderMessage([["DKIM-Signature", value], ...headers], [body]), {
      resolver: () => Promise.resolve([[record.slice(0, 255), record.slice(255)]]),
    });
    expect(results.map(({ status }) => status.result)).toEqual(["pass"]);
  });
});

describe("a published key", () => {
  const key = dkimRecordValue(publicKey).slice("v=DKIM1; k=rsa; p=".length);
  const other = key.replace(/^M/, "N");

  test.each([
    ["as suggested", [dkimRecordValue(key)]],
    ["with other tags in another order", [`p=${key}; t=s; k=rsa; v=DKIM1;`]],
    ["without v= and k=", [`p=${key}`]],
    ["with blanks in the key", [`v=DKIM1;k=rsa;p=${key.slice(0, 100)} \t ${key.slice(100)}`]],
    ["published twice", [dkimRecordValue(key), `p=${key}`]],
    ["beside records of other kinds", ["v=spf1 -all", "v=DMARC1; p=none", dkimRecordValue(key)]],
  ])("is verified %s", (_, records) => {
    expect(dkimKeyMatches(records, key)).toMatchObject({ status: "verified", found: records });
  });

  test.each([
    ["missing", [], /add the TXT record/],
    ["missing", ["v=spf1 -all", "v=DMARC1; p=none", "hello"], /add the TXT record/],
    ["mismatch", [`"v=DKIM1; k=rsa; p=${key}"`], /quotation marks/],
    ["mismatch", [`"v=DKIM1; k=rsa; p=${key.slice(0, 50)}" "${key.slice(50)}"`], /quotation marks/],
    ["mismatch", [`\u201cv=DKIM1; k=rsa; p=${key}\u201d`], /quotation marks/],
    ["mismatch", [Buffer.from(`\u201cv=DKIM1; p=${key}\u201d`).toString("latin1")], /quotation marks/],
    ["mismatch", [`v=DKIM1\\; k=rsa\\; p=${key}`], /backslashes/],
    ["mismatch", [`k=rsa\\; p=${key}`], /backslashes/],
    ["mismatch", [`v=dkim1; k=rsa; p=${key}`], /meant as DKIM, but/],
    ["mismatch", [`v=DKIM; p=${key}`], /meant as DKIM, but/],
    ["mismatch", [`v=DKIM1 k=rsa p=${key}`], /meant as DKIM, but/],
    ["mismatch", [`v=DKIM1, k=rsa, p=${key}`], /meant as DKIM, but/],
    ["mismatch", [`TXT "v=DKIM1; p=${key}"`], /zone file/],
    ["mismatch", [`v=DKIM1; p=-----BEGIN PUBLIC KEY-----${key}-----END PUBLIC KEY-----`], /BEGIN and END/],
    ["mismatch", [dkimRecordValue(other)], /Another key/],
    ["mismatch", [key], /meant as DKIM, but/],
    ["mismatch", [`${dkimRecordValue(key)}${dkimRecordValue(key)}`], /meant as DKIM, but/],
    ["mismatch", [`v=DKIM1; p=${key}p=${key}`], /not base64/],
    ["mismatch", [`v=DKIM1; p=${key}; p=${key}`], /meant as DKIM, but/],
    ["mismatch", [`v:DKIM1; p=${key}`], /meant as DKIM, but/],
    ["mismatch", [`v=DKIM1; k=RSA; p=${key}`], /lower case/],
    ["verified", [`v=DKIM1; n=the "main" key; p=${key}`], /expected one/],
    ["mismatch", ["v=DKIM1; k=rsa; p="], /revokes/],
    ["mismatch", [dkimRecordValue(key), dkimRecordValue(other)], /2 different DKIM keys/],
    ["mismatch", [dkimRecordValue(key), "v=DKIM1; p="], /2 different DKIM keys/],
    ["mismatch", [`v=DKIM1; k=ed25519; p=${key}`], /publish k=rsa/],
    ["mismatch", [`v=DKIM1; h=sha1; p=${key}`], /sha256/],
    ["mismatch", [`v=DKIM1; s=tlsrpt; p=${key}`], /email/],
    ["mismatch", [dkimRecordValue(key.slice(0, 200))], /cut off after 200 of 216 characters/],
  ])("is %s in %j", (status, records, expected) => {
    const finding = dkimKeyMatches(records, key);
    expect(finding).toMatchObject({ status, found: records });
    expect(finding.message).toMatch(expected);
  });
});
