/** Fills in sign-up forms as people do, and reads the mails that follow. */
import sql from "sql-template-tag";
import type { TestService } from "./service.ts";

export type FormFields = Readonly<Record<string, string | readonly string[]>>;

export interface SignupMail {
  readonly from_email: string;
  readonly source: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** What a page hides in its form. */
export const tokenIn = (page: string) => /name="page" value="([\w-]+)"/.exec(page)?.[1] ?? "no token";

export function signupVisits({ database, clock }: Pick<TestService, "database" | "clock">) {
  /** @param from the address that the request comes from */
  const post = (url: string, fields: FormFields = {}, from = "192.0.2.1") =>
    fetch(url, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(
        Object.entries(fields).flatMap(([name, value]) =>
          [value].flat().map((one): [string, string] => [name, one]),
        ),
      ),
      headers: { "X-Forwarded-For": from },
    });
  /** Loads the form, fills it in as a person does, and sends it. */
  const ask = async (url: string, fields: FormFields, from?: string) => {
    const page = tokenIn(await (await fetch(url)).text());
    clock.advance(2_000);
    return post(url, { page, ...fields }, from);
  };
  /** Oldest first. */
  const mailsTo = (address: string): Promise<SignupMail[]> =>
    database.rows(sql`
      select m.from_email, m.source, m.subject, c.html, c.text
      from messages m join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
      where m.localpart || '@' || m.domain = ${address} order by m.id`);
  /** The link in the latest mail to the address. */
  const linkTo = async (address: string): Promise<string> => {
    const mail = (await mailsTo(address)).at(-1);
    return /http\S+\/s\/confirm\/[\w-]{64}/.exec(mail?.text ?? "")?.[0] ?? "no link";
  };
  return { post, ask, mailsTo, linkTo };
}
