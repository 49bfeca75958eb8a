import { describe, expect, test } from "vitest";
import { classifyReply, enhancedCode, type ReplyVerdict } from "./classify-reply.ts";

/** Classifies a quoted reply whose status says that the address is bad. */
function judge(reply: string, enhanced: string | null = enhancedCode(reply)): ReplyVerdict {
  return classifyReply({ code: Number.parseInt(reply, 10), enhanced, text: reply, stage: "report" });
}

describe("a block list named only by a link or host is about us, whatever the status says", () => {
  test.each([
    "553 https://www.spamhaus.org/query/ip/192.0.2.1",
    "550 https://spamrl.com/lookup",
    "550 https://team-cymru.com/bogon",
    "550 https://www.suomispam.net/",
    "553 https://check.spamhaus.org/listed/?searchterm=192.0.2.1",
    "550 https://www.spamhaus.org/sbl/query/SBL12345",
    "550 see zen.spamhaus.org",
    "550 1.2.0.192.zen.spamhaus.org",
    "550 (dbl.spamhaus.org)",
    "550 abcdefgh.zen.dq.spamhaus.net",
    "550 mail.example.net found in dbl.spamhaus.org",
    "553 https://www.spamcop.net/bl.shtml?192.0.2.1",
    "553 bl.spamcop.net",
    "550 http://www.barracudacentral.org/rbl/removal-request/192.0.2.1",
    "550 http://www.barracudanetworks.com/reputation/?pr=1&ip=192.0.2.1",
    "550 http://www.sorbs.net/lookup.shtml?192.0.2.1",
    "550 https://ipcheck.proofpoint.com/?ip=192.0.2.1",
    "550 https://csi.cloudmark.com/en/reset/?ip=192.0.2.1",
    "550 https://www.senderscore.org/lookup.php?lookup=192.0.2.1",
    "550 https://talosintelligence.com/reputation_center/lookup?search=192.0.2.1",
    "550 http://www.uceprotect.net/rblcheck.php?ipr=192.0.2.1",
    "550 https://lookup.abusix.com/search?q=192.0.2.1",
    "550 ix.dnsbl.manitu.net",
    "550 http://psbl.org/listing?ip=192.0.2.1",
    "550 hostkarma.junkemailfilter.com",
    "550 https://www.invaluement.com/lookup/?item=192.0.2.1",
    "550 https://sender.office.com/",
    "550 delist@messaging.microsoft.com",
    "554 tosa@rx.t-online.de",
    "553 https://www.abuseat.org/lookup.cgi?ip=192.0.2.1",
    "550 https://rbl.mail.example/?i=192.0.2.1",
    "550 https://www.example.com/dnsbl/lookup?address=mail.example.net",
    "550 https://www.example.com/rbl",
    "550 https://postmaster.example.com/blocked",
    "550 https://postmaster.gmx.net/en/error-messages?ip=192.0.2.1&c=bl",
    "554 http://postmaster.aol.com/errors/554hvub1.html",
    "554 http://postmaster.info.aol.com/errors/554rlyb1.html",
    "554 http://postmaster.comcast.net/smtp-error-codes.php#BL000001",
    "553 http://postmaster.yahoo.com/550-bl23.html",
    "550 https://example.com/why/192.0.2.1",
    "550 https://support.example.com/?client=2001:db8::1",
    "550 https://postmaster.live.com/pm/troubleshooting.aspx",
    "554 For explanation visit https://postmaster.gmx.net/en/case?c=r0201&i=ip&v=192.0.2.1",
  ])("%s", (reply) => {
    for (const status of ["5.1.3", "5.1.1", "5.1.2"]) {
      expect(judge(reply, status)).toMatchObject({
        category: "Reputation",
        bounceClass: "block",
        suppress: false,
        scope: "lane",
      });
    }
  });

  test.each([
    "550 5.1.1 https://support.google.com/mail/?p=UnsolicitedMessageError",
    "550 5.1.1 https://support.google.com/mail/?p=UnsolicitedIPError x12-20020a05600c.1 - gsmtp",
    "550 5.1.1 https://support.google.com/mail/?p=BlockedMessage",
    "550 5.1.1 https://support.google.com/mail/answer/81126",
  ])("Google's page for bulk senders: %s", (reply) => {
    expect(judge(reply)).toMatchObject({ bounceClass: "block", suppress: false });
  });
});

test.each([
  "550 https://help.example.com/articles/12345",
  "550 Please see https://x.example/srbounce for details",
  "550 rejected, see http://service.mail.example/cgi-bin/help?id=20022",
])("a code that blames the address does not count with nothing but a link: %s", (reply) => {
  expect(judge(reply, "5.1.1")).toMatchObject({ category: "Undetermined", suppress: false });
});

describe("a link that names a fault of the mailbox is about the recipient", () => {
  test.each([
    ["550 https://support.google.com/mail/?p=NoSuchUser x12-2002 - gsmtp", "NoEmail"],
    ["550 5.1.1 https://support.google.com/mail/?p=NoSuchUser", "NoEmail"],
    ["550 https://support.google.com/mail/?p=DisabledUser", "MailboxDisabled"],
    ["552 https://support.google.com/mail/?p=OverQuotaPerm", "MailboxFull"],
    // Links without a meaning.
    ["550 5.1.1 bad address https://www.example.com/help/errors#550", "NoEmail"],
    ["550 5.1.1 User unknown, see https://www.example.com/help/errors#550", "NoEmail"],
    ["550 5.1.1 User unknown https://community.mimecast.com/docs/DOC-1369#550", "NoEmail"],
    ["550 5.1.1 <joe@spamhaus.org>: Recipient address rejected: User unknown", "NoEmail"],
    ["550 5.1.1 <joe@rbl.example.com>: User unknown", "NoEmail"],
    ["550 host mx.sorbs.net[192.0.2.7] said: 550 5.1.1 User unknown", "NoEmail"],
    [
      "550-Requested action not taken: mailbox unavailable 550 For explanation visit https://postmaster.example.net/en/case?c=r0601&i=ip&v=192.0.2.1",
      "NoEmail",
    ],
  ])("%s", (reply, category) => {
    expect(judge(reply).category).toBe(category);
  });
});

test("a provider's code for blocked senders overrides a status that blames the address", () => {
  for (const words of [
    "[IPTS04]",
    "(S3150)",
    "DY-001",
    "OFR_506 [506]",
    "LPN007_510",
    "CXBL",
    "AUP#1310",
    "[CS01]",
    "[PH01]",
    "[HM08]",
    "RL000001",
    "HL:REP",
    "DT:SPM",
    "Sorry, 192.0.2.1 is UCEPROTECT-Level2 listed",
    "SBRS score too low",
    "Votre adresse IP est sur une liste noire",
    "Ihre IP-Adresse ist gesperrt",
    "Su IP está en una lista negra",
    "Il tuo indirizzo IP è in blacklist",
    "Seu endereço IP está bloqueado",
    "Twój adres IP jest zablokowany",
    "Uw IP-adres is geblokkeerd",
    "Ваш IP-адрес заблокирован",
    "IP在黑名单中",
    "迷惑メールと判断されました",
    "Message considéré comme indésirable: courrier indésirable",
  ])
    expect(judge(`550 5.1.1 ${words}`), words).toMatchObject({ bounceClass: "block", suppress: false });
});
