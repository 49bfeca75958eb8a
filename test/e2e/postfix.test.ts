import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { isPostfixInstalled, startPostfix } from "#test/support/postfix.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

test.skipIf(!isPostfixInstalled)(
  "Postfix receives a message once and encrypted, and a message to an unknown user bounces",
  async () => {
    await using postfix = await startPostfix("postfix.test", ["ada"]);
    await using scene = await openScene({
      env: { SMTP_PORT: String(postfix.port) },
      zone: mailDomain("postfix.test"),
    });
    const id = await scene.send("ada@postfix.test", {
      subject: "Grüße",
      body: ".\n..\nA line that begins with a dot.",
    });
    const unknown = await scene.send("nobody@postfix.test");

    const { timeline } = await scene.messageWhen("delivered", id);
    expect(timeline.at(-1)).toMatchObject({ mx_host: "mx.postfix.test", code: 250, enhanced_code: "2.0.0" });
    const [message = "", ...more] = await eventually("the mail in its mailbox", async () => {
      const mails = await postfix.mailbox("ada");
      return mails.length > 0 && mails;
    });
    expect(more).toEqual([]);
    expect(message).toMatch(/^Return-Path: <b\.[a-z0-9]+@bounce\.mail\.posthaste\.test>/);
    expect(message).toContain("with ESMTPS id");
    expect(message).toContain("from mail.posthaste.test (");
    expect(message).toContain(`\nMessage-ID: <${id}@posthaste.test>\n`);
    expect(message).toContain("\n.\n..\nA line that begins with a dot.\n");

    const bounced = await scene.messageWhen("bounced", unknown);
    expect(bounced.error_message).toMatch(/^550 5\.1\.1 .*User unknown in virtual mailbox table/);
  },
);
