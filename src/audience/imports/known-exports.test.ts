/** Files as other programs write them: each row of the table in docs/import-export.md. */
import iconv from "iconv-lite";
import sql from "sql-template-tag";
import { beforeEach, describe, expect, it } from "vitest";
import { startImportService } from "#test/support/imports.ts";

const service = await startImportService();
const { call, database, importFile, newList, upload } = service;

beforeEach(async () => {
  await database.run(sql`delete from memberships where workspace_id = ${service.workspaceId}`);
  await database.run(sql`delete from subscribers where workspace_id = ${service.workspaceId}`);
});

/** First and last name and status of the members, by the local part of the address. */
async function members(list: string): Promise<Record<string, string>> {
  const rows = await database.rows<Record<"email" | "name" | "status", string>>(sql`
    select s.email, concat_ws(' ', s.first_name, s.last_name) as name, m.status
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list} order by s.email`);
  return Object.fromEntries(
    rows.map(({ email, name, status }) => [email.split("@")[0], `${name} ${status}`.trim()]),
  );
}

const lines = (...rows: string[]) => rows.map((row) => `${row}\r\n`).join("");

describe("an export of another program is imported with names, and people who opted out stay out", () => {
  it.each<[string, string | Uint8Array, Record<string, string>]>([
    [
      "Mailchimp, subscribed",
      lines(
        '"Email Address","First Name","Last Name",Birthday,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,LAST_CHANGED,TAGS',
        'in@x.example,Zoë,Müller,05/17,2,"2018-10-11 09:55:14",192.0.2.1,"2018-10-11 09:56:00","2019-01-01 10:00:00","""vip"""',
      ),
      { in: "Zoë Müller active" },
    ],
    [
      "Mailchimp, unsubscribed",
      lines(
        '"Email Address","First Name","Last Name",OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON,UNSUB_REASON_OTHER',
        'out@x.example,Zoë,Müller,"2018-10-11 09:55:14","2019-03-01 10:00:00",Spring,NORMAL,',
      ),
      { out: "Zoë Müller unsubscribed" },
    ],
    [
      "Mailchimp, cleaned",
      lines(
        '"Email Address","First Name",CLEAN_TIME,CLEAN_CAMPAIGN_TITLE',
        'out@x.example,Zoë,"2019-03-01 10:00:00",Spring',
      ),
      { out: "Zoë bounced" },
    ],
    [
      "Brevo",
      lines(
        "CONTACT ID;EMAIL;FIRSTNAME;LASTNAME;SMS;EMAIL_BLACKLISTED;SMS_BLACKLISTED;ADDED_TIME",
        "1;in@x.example;Zoë;Müller;;false;true;11-10-2018 09:55:14",
        "2;out@x.example;Bob;Lee;;true;false;11-10-2018 09:55:14",
      ),
      { in: "Zoë Müller active", out: "Bob Lee unsubscribed" },
    ],
    [
      "Brevo, with French attributes",
      lines("EMAIL;PRENOM;NOM", "in@x.example;Zoë;Müller"),
      { in: "Zoë Müller active" },
    ],
    [
      "Klaviyo",
      lines(
        "Email,Klaviyo ID,First Name,Last Name,Email Marketing Consent,Email Marketing Consent Timestamp,Email Suppressions",
        "in@x.example,01,Zoë,Müller,SUBSCRIBED,2018-10-11 09:55:14,[]",
        "out@x.example,02,Bob,Lee,UNSUBSCRIBED,2018-10-11 09:55:14,['UNSUBSCRIBE']",
        "never@x.example,03,Ida,Ray,NEVER_SUBSCRIBED,,[]",
        "dead@x.example,04,Tom,May,SUBSCRIBED,2018-10-11 09:55:14,['HARD_BOUNCE']",
      ),
      {
        in: "Zoë Müller active",
        out: "Bob Lee unsubscribed",
        never: "Ida Ray unsubscribed",
        dead: "Tom May bounced",
      },
    ],
    [
      "HubSpot",
      lines(
        '"Record ID","First Name","Last Name",Email,"Lead Status","Marketing contact status","Unsubscribed from all email","Opted out of email: Marketing Information","Marketing emails bounced","Create Date"',
        '1,Zoë,Müller,in@x.example,New,"Marketing contact",,,0,"2018-10-11 09:55"',
        '2,Bob,Lee,out@x.example,Open,"Marketing contact",true,,2,"2018-10-11 09:55"',
        '3,Ida,Ray,part@x.example,,"Marketing contact",false,Yes,3,"2018-10-11 09:55"',
        '4,Tom,May,other@x.example,,"Non-marketing contact",,,0,"2018-10-11 09:55"',
      ),
      {
        in: "Zoë Müller active",
        out: "Bob Lee unsubscribed",
        part: "Ida Ray unsubscribed",
        other: "Tom May unsubscribed",
      },
    ],
    [
      "Ghost",
      lines(
        "id,email,name,note,subscribed_to_emails,complimentary_plan,stripe_customer_id,created_at,deleted_at,labels,tiers",
        "1,in@x.example,Zoë Müller,,true,false,,2018-10-11T09:55:14.000Z,,vip,",
        "2,out@x.example,Bob Lee,,false,false,,2018-10-11T09:55:14.000Z,,,",
      ),
      { in: "active", out: "unsubscribed" },
    ],
    [
      "listmonk",
      lines(
        "uuid,email,name,attributes,status,created_at,updated_at",
        '1,in@x.example,Zoë Müller,"{""city"":""Rome""}",enabled,2018-10-11 09:55:14+00,2018-10-11 09:55:14+00',
        "2,out@x.example,Bob Lee,{},blocklisted,2018-10-11 09:55:14+00,2018-10-11 09:55:14+00",
        "3,off@x.example,Ida Ray,{},disabled,2018-10-11 09:55:14+00,2018-10-11 09:55:14+00",
      ),
      { in: "active", out: "unsubscribed", off: "unsubscribed" },
    ],
    [
      "MailPoet",
      lines(
        'Email,"First name","Last name",List,"List status","Global status"',
        "in@x.example,Zoë,Müller,News,Subscribed,Subscribed",
        "list@x.example,Bob,Lee,News,Unsubscribed,Subscribed",
        "wait@x.example,Ida,Ray,News,Subscribed,Unconfirmed",
        "dead@x.example,Tom,May,News,Subscribed,Bounced",
      ),
      {
        in: "Zoë Müller active",
        list: "Bob Lee unsubscribed",
        wait: "Ida Ray unsubscribed",
        dead: "Tom May bounced",
      },
    ],
    [
      "Excel on Windows, CSV UTF-8",
      `\ufeff${lines("E-Mail;Vorname;Nachname;Abgemeldet", "in@x.example;Zoë;Müller;FALSCH", "out@x.example;Bob;Lee;WAHR")}`,
      { in: "Zoë Müller active", out: "Bob Lee unsubscribed" },
    ],
    [
      "Excel on Windows, CSV in the code page",
      iconv.encode(lines("E-Mail;Vorname;Nachname", "in@x.example;Zoë;Müller"), "windows-1252"),
      { in: "Zoë Müller active" },
    ],
    [
      "Excel on Windows, Unicode text",
      Buffer.from(`\ufeff${lines("Email\tFirst\tLast", "in@x.example\tZoë\tMüller")}`, "utf16le"),
      { in: "Zoë Müller active" },
    ],
    [
      "Excel on macOS, CSV (Macintosh)",
      iconv.encode("Email;First;Last\rin@x.example;Zoë;Müller\r", "macintosh"),
      { in: "Zoë Müller active" },
    ],
    [
      "Excel in the web",
      `\ufeff${lines("Email,First,Last,,", "in@x.example,Zoë,Müller,,", ",,,,")}`,
      { in: "Zoë Müller active" },
    ],
    ["LibreOffice", '"Email","First","Last"\n"in@x.example","Zoë","Müller"\n', { in: "Zoë Müller active" }],
    [
      "a line sep=; above",
      lines("sep=;", "Email;First;Last", "in@x.example;Zoë;Müller"),
      { in: "Zoë Müller active" },
    ],
    [
      "a title above the header, and totals below",
      lines(
        "Contacts of ACME",
        "Exported;2018-10-11",
        "",
        "Email;First;Last",
        "in@x.example;Zoë;Müller",
        "Total;1;",
      ),
      { in: "Zoë Müller active" },
    ],
  ])("%s", async (_name, content, expected) => {
    const list = await newList();
    const job = await importFile(list, content);
    expect([job.status, job.error]).toEqual(["completed", null]);
    expect(await members(list)).toEqual(expected);
  });
});

describe("a header in another language", () => {
  it.each([
    "E-Mail-Adresse;Vorname;Nachname",
    "Adresse e-mail;Prénom;Nom",
    "Courriel;Prenom;Nom de famille",
    "Correo electrónico;Nombre;Apellidos",
    "Indirizzo e-mail;Nome;Cognome",
    "Endereço de e-mail;Nome;Sobrenome",
    "E-mailadres;Voornaam;Achternaam",
    "E-postadress;Förnamn;Efternamn",
    "Sähköposti;Etunimi;Sukunimi",
    "Adres e-mail;Imię;Nazwisko",
    "E-mail cím;Keresztnév;Vezetéknév",
    "E-posta adresi;Adı;Soyadı",
    "Электронная почта;Имя;Фамилия",
    "メールアドレス;名;姓",
    "电子邮箱;名;姓",
    "이메일 주소;이름;성",
  ])("%s is understood", async (header) => {
    const list = await newList();
    await importFile(list, `${header}\nin@x.example;Zoë;Müller\n`);
    expect(await members(list)).toEqual({ in: "Zoë Müller active" });
  });

  it("counts behind names and labels of custom fields", async () => {
    const list = await newList();
    const field = { field_name: "rufname", field_label: "Vorname", field_type: "text" };
    await call("POST", `/mailing-lists/${list}/custom-fields`, field);
    await importFile(list, "Email;Vorname\nin@x.example;Zoë\n");
    expect(await members(list)).toEqual({ in: "active" });
  });
});

it("if no name identifies the column of addresses, their cells do, with a warning", async () => {
  const list = await newList();
  const job = await importFile(list, "Kontakt;Telefon\nin@x.example;123\nb@x.example;\n");
  expect(job.result).toMatchObject({ created: 2, warnings: [expect.stringContaining('"Kontakt"')] });
  const two = await importFile(list, "One;Other\na@x.example;b@x.example\n");
  expect(two).toMatchObject({ status: "failed", error: expect.stringContaining("no column named Email") });
});

it("a file without a header is refused with what to do", async () => {
  const job = await importFile(await newList(), "a@x.example,Ann\nb@x.example,Bob\n");
  expect(job.error).toMatch(/no column named Email.*put a row with the names of the columns above it/);
});

it("a file that is called after people who get no mail is refused until its sender says what it is", async () => {
  const list = await newList();
  const send = (name: string, fields: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    form.append("csvFile", new Blob(["Email\nout@x.example\n"]), name);
    return call("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  };
  for (const name of [
    "nonsubscribed_members_export_1.csv",
    "cleaned_members.csv",
    "suppression_bounces.csv",
  ]) {
    const { status, body } = await send(name);
    expect([status, body.error]).toEqual([400, expect.stringContaining("status=unsubscribed")]);
  }
  await service.ended(await send("nonsubscribed_members_export_1.csv", { status: "unsubscribed" }));
  expect(await members(list)).toEqual({ out: "unsubscribed" });
  expect((await send("subscribed_members_export_1.csv")).status).toBe(202);
});

it("a status about orders is ignored, and one partly about mail refuses the file", async () => {
  const list = await newList();
  const file = "Email,Order status\na@x.example,cancelled\nb@x.example,shipped\n";
  await importFile(list, file);
  expect(await members(list)).toEqual({ a: "active", b: "active" });
  const mixed = await upload(list, "Email,List state\na@x.example,Unsubscribed\nb@x.example,Odd\n");
  expect([mixed.status, mixed.body.error]).toEqual([400, expect.stringContaining('"List state"')]);
});
