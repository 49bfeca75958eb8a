import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { classifyReply, enhancedCode, type ReplyVerdict } from "./classify-reply.ts";

/** Classifies a reply to RCPT in its SMTP form. */
function judge(reply: string): ReplyVerdict {
  return classifyReply({
    code: Number.parseInt(reply, 10),
    enhanced: enhancedCode(reply),
    text: reply,
    stage: "rcpt",
  });
}

describe("an address that does not exist is hard and suppressed", () => {
  test.each([
    "550 Invalid final delivery userid: joe@example.com",
    "550 Sorry, this address doesn't live here any more",
    // Gmail, Microsoft, Yahoo, Apple
    "550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient's email address for typos or 550-5.1.1 unnecessary spaces.",
    "553-5.1.2 We weren't able to find the recipient domain. Please check for any spelling errors.",
    "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient joe@example.com not found by SMTP address lookup",
    "550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found",
    "550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [DB5EUR03FT041.eop-EUR03.prod.protection.outlook.com]",
    "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
    "550 5.1.351 Remote server returned unknown recipient or mailbox unavailable",
    "501 5.1.3 Invalid address",
    "554 delivery error: dd This user doesn't have a yahoo.com account (joe@yahoo.com) [0] - mta1234.mail.bf1.yahoo.com",
    "552 1 Requested mail action aborted, mailbox not found",
    "550 5.1.1 unable to deliver to <joe@icloud.com>: user does not exist",
    "550 5.1.6 recipient no longer on server: joe@me.com",
    // Postfix, Dovecot, Exim, cPanel, sendmail, qmail, Exchange, Domino, Zimbra, Courier, MDaemon
    "550 5.1.1 <joe@example.com>: Recipient address rejected: User unknown in virtual mailbox table",
    "550 <joe@example.com>: Recipient address rejected: User unknown in relay recipient table",
    "550 5.1.1 <joe@example.com>: Recipient address rejected: example.com",
    '550 5.1.1 <joe@example.com>: Recipient address rejected: undeliverable address: unknown user: "joe"',
    "550 5.1.1 <joe@example.com> User doesn't exist: joe@example.com",
    "550 Unrouteable address",
    "550 Unroutable address",
    "550 Unknown user",
    "550 No Such User Here",
    "550-Callout verification failed: 550 550 5.1.1 <joe@example.com>: Recipient address rejected: User unknown in local recipient table",
    "550 No such person at this address",
    "550 5.1.1 <joe@example.com>... User unknown",
    "550 5.1.2 <joe@example.com>... Host unknown (Name server: example.com: host not found)",
    "550 sorry, no mailbox here by that name. (#5.1.1 - chkuser)",
    "511 sorry, no mailbox here by that name (#5.1.1 - chkuser)",
    "550 #5.1.0 Address rejected.",
    "550 #5.1.1 bad address joe@example.com",
    "550 joe@example.com... No such user",
    "550 5.1.1 User joe (joe@example.com) not listed in Domino Directory",
    "550 5.7.1 <joe@example.com>: Recipient address rejected: User email address is marked as invalid.",
    "550 User unknown - joe, recipient unknown",
    "550 'joe@example.com' is not a registered user",
    "550 5.1.1 Unknown or illegal alias: joe@example.com",
    "553 5.1.1 unknown or illegal user: joe@example.com",
    "550 Invalid recipient: joe@example.com",
    "550 5.1.1 The email address you entered couldn't be found. Please check the recipient's email address.",
    "550 5.0.1 Recipient rejected: no such mailbox",
    "550 RCPT TO:<joe@libero.it> User unknown",
    "552 RCPT TO mailbox unavailable",
    "550 <joe@example.com> No such user here",
    "550 <joe> is not a valid mailbox",
    "550 joe@example.com is not a known user",
    "550 Address joe@example.com unknown",
    "550 no account by that name here",
    "550 There is no one at this address",
    "554 Transaction failed: no valid recipients",
    "550 Unknown local part joe in <joe@example.com>",
    "550 5.1.1 recipient rejected",
    "550 non-existent user",
    "550 5.1.1 sorry, no mailbox here",
    "550 This email address is not known to this system",
    "550 Mail for joe@example.com has moved; this address no longer accepts mail",
    "550 account joe@example.com is no longer valid",
    "553 sorry, your envelope recipient is in my badrcptto list: no such recipient (#5.7.1)",
    "550 mailbox not found",
    "550 5.2.0 No such mailbox",
    "554 5.1.1 mail could not be delivered: user not found",
    "550 User not found: joe@163.com",
    "550 Invalid User:joe@126.com",
    "550 RC:NE The email account does not exist.",
    "550 #2175041 unavailable mail user",
    "551 5.1.1 recipient is not exist",
    "550 Local User joe@example.com not found.",
    "550 Message was not accepted -- invalid mailbox. Local mailbox joe@mail.ru is unavailable: user not found",
    "550 5.1.1 Mailbox does not exist",
    "550 5.1.1 Address does not exist",
    "550 5.1.1 Account not found",
    "550 5.1.1 No such customer",
    "550 Requested action not taken: mailbox unavailable",
    "550 Requested mail action not taken: mailbox unavailable",
    "550 mailbox is unavailable",
    "553 Requested action not taken: mailbox name not allowed",
    "550-Invalid recipient <joe@example.com> (#5.1.1)",
    "550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550",
    // other languages
    "550 5.1.1 Adresse d'au moins un destinataire invalide. OFR_416 [416]",
    "550 L'utilisateur demandé est inconnu",
    "550 Benutzer nicht bekannt/User unknown",
    "550 5.1.1 Empfänger unbekannt",
    "550 Benutzer joe existiert nicht",
    "550 Usuario inexistente",
    "550 El usuario no existe",
    "550 Destinatario sconosciuto",
    "550 utente inesistente",
    "550 Usuário desconhecido",
    "550 Nie ma takiego konta",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({
      category: "NoEmail",
      bounceClass: "hard",
      suppress: true,
      retry: false,
    });
  });
});

describe("an address that was closed is hard and suppressed", () => {
  test.each([
    "550 The user you are trying to contact has an inactive account",
    "550 5.2.1 The email account that you tried to reach is disabled. Learn more at https://support.google.com/mail/?p=DisabledUser",
    "550-5.2.1 The email account that you tried to reach is inactive.",
    "554 delivery error: dd Sorry your message to joe@yahoo.com cannot be delivered. This account has been disabled or discontinued [#101].",
    "550 Message was not accepted -- invalid mailbox. Local mailbox joe@mail.ru is unavailable: account is disabled",
    "525 5.7.13 STOREDRV.Deliver.Exception:AccountDisabledException.MapiExceptionADUserDisabled",
    "550 5.2.1 <joe@example.com>... Mailbox disabled for this recipient",
    "550 5.7.1 <joe@rambler.ru>: recipient address rejected: Inactive",
    "550 <joe@lycos.de>: Recipient address rejected: Account Closed",
    "550 User suspended",
    "550 User is locked",
    "550 5.1.1 inactive user",
    "550 Mailbox is inactive",
    "550 5.2.1 This mailbox has been blocked due to inactivity",
    "550 account expired",
    "550 5.2.1 The recipient's mailbox was deleted",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({ category: "MailboxDisabled", bounceClass: "hard", suppress: true });
  });
});

describe("a full mailbox is soft, whatever its code", () => {
  test.each([
    "550 The user's mailfolder is full",
    "550 User mailbox exceeds allowed size",
    "550 Sorry, your intended recipient has too much mail stored in his mailbox, quota exceeded",
    "452-4.2.2 The email account that you tried to reach is over quota. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp",
    "552 5.2.2 The email account that you tried to reach is over quota.",
    "552 5.1.1 Boîte du destinataire pleine. Recipient overquota. OFR_417 [417]",
    "552 5.2.2 user is over quota",
    "554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded",
    "552 5.2.2 <joe@example.com> Quota exceeded (mailbox for user is full)",
    "550 5.1.1 Mailbox quota usage exceeded",
    "550 Mailbox quota exceeded",
    "552 Message for <joe@example.com> would exceed mailbox quota",
    "550 User has exhausted allowed storage space",
    "550 Benutzer hat zuviele Mails auf dem Server. / User has too many messages on the server.",
    "550 Benutzer hat das Speichervolumen überschritten",
    "552 Requested mail action aborted: exceeded storage allocation",
    "552 Quota violation for joe@example.com",
    "550 5.1.1 user over quota. (#5.1.1)",
    "452 4.2.2 Mailbox full",
    "550 The user's mail drop is full",
    "552 Mailfolder is full",
    "552 Recipient quota exceeded",
    "554 The recipient has exceeded their mailbox quota",
    "550 recipient mailbox has exceeded its disk space limit",
    "550 Postfach ist voll",
    "550 La casella è piena",
    "550 El buzón está lleno",
    "550 A caixa postal está cheia",
    "550 A caixa de entrada do destinatário está cheia",
    "550 Postfach ist überfüllt",
    "550 De mailbox van de ontvanger is vol",
    "550 Modtagerens postkasse er fuld",
    "550 Vastaanottajan postilaatikko on täynnä",
    "550 Cutia poștală a destinatarului este plină",
    "550 La bústia del destinatari és plena",
    "550 Gavėjo pašto dėžutė pilna",
    "550 Saaja postkast on täis",
    "550 Inbox penuh",
    "550 Hộp thư đầy",
    "550 Το γραμματοκιβώτιο του παραλήπτη είναι πλήρες",
    "550 תיבת הדואר של הנמען מלאה",
    "550 صندوق المستلم ممتلئ",
    "550 Скринька переповнена",
    "550 กล่องจดหมายเต็ม",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({ category: "MailboxFull", bounceClass: "soft", suppress: false });
  });
});

describe("a refusal of our address, domain or rate concerns the lane and never suppresses", () => {
  test.each([
    "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1",
    "550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/",
    "550 5.7.511 Access denied, banned sender[192.0.2.1]. To request removal from this list please forward this message to delist@messaging.microsoft.com",
    "550 OU-002 (COL004-MC1F1) Unfortunately, messages from 192.0.2.1 weren't sent. Please contact your Internet service provider since part of their network is on our block list.",
    "550 SC-001 (BAY004) Unfortunately, messages from 192.0.2.1 weren't sent. You can also refer your provider to the postmaster pages.",
    "421 RP-001 (SNT004) Unfortunately, some messages from 192.0.2.1 weren't sent. Please try again. We have limits for how many messages can be sent per hour and per day.",
    "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints - 4.16.55.1",
    "421 4.7.1 [TS03] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed.",
    "553 5.7.2 [TSS09] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed.",
    "554 5.7.1 [HM08] Your IP address has a poor reputation",
    "550 5.7.1 Mail from IP 192.0.2.1 was rejected due to listing in Spamhaus PBL. For details please see http://www.spamhaus.org/query/bl?ip=192.0.2.1",
    "421 4.7.0 Try again later, closing connection: 192.0.2.1 throttled RL000001",
    "554 resimta-po-12v comcast 192.0.2.1 Comcast BL000010 blocked for spam",
    "550 Access from ip address 192.0.2.1 blocked.",
    "550-Dear user, your IP 192.0.2.1 is in a black list at b.barracudacentral.org",
    "550 rejected because 192.0.2.1 is in a black list at dnsbl.example.net",
    "554 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.2.1",
    "550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550",
    "451 IP temporarily blacklisted - https://community.mimecast.com/docs/DOC-1369#451",
    "521 5.2.1 : (DNS:NR) Your IP is not allowed to connect",
    "550 5.2.0 Message refused: too many unknown users from your IP address",
    "421 4.7.0 Too many invalid recipients",
    "421 Too many concurrent SMTP connections; please try again later.",
    "421 4.3.2 Too many open connections from 192.0.2.1",
    "452 4.5.3 Your message has too many connections in one hour",
    "550 Sender frequency limited. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000723",
    "550 Domain example.com has exceeded the max emails per hour (150/100 (150%)) allowed. Message discarded.",
    "451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719)",
    "550-5.4.5 Daily sending quota exceeded. For more information on message sending limits go to the help pages",
    "550 5.7.1 Recipient not authorized, your IP has been found on a block list",
    "550 #5.7.1 Your access to submit messages to this e-mail system has been rejected: connection refused due to abuse",
    "501 Connection rejected by policy [7.7] 12345, please visit www.symanteccloud.com/troubleshooting",
    "550 5.7.0 Mail rejeté. Mail rejected. OFR_506 [506]",
    "553 5.3.0 flpd123 DNSBL:ATTRBL 521< 192.0.2.1 >_is_blocked. For assistance forward this error to abuse_rbl@abuse-att.net",
    "554 We do not accept mail from dynamic IPs",
    "550 black ip.",
    "552 5.2.0 192.0.2.1 rejected. AUP#CXSNDR",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({ bounceClass: "block", suppress: false, scope: "lane" });
  });
});

describe("a refusal of the sender, its authentication or the message is a block and never suppresses", () => {
  test.each([
    "550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required",
    "550 Account suspended for the sender",
    "550 5.1.1 Inhalt abgelehnt",
    "550 5.1.1 Nachricht wegen Inhalt abgelehnt",
    "550 5.1.1 Mensaje rechazado",
    "550 5.1.1 Сообщение отклонено",
    "550 5.1.1 rejected: IP address 192.0.2.1 is not allowed",
    "550 5.1.1 only members can post to this list",
    "550 5.1.1 You are not a member of this list",
    "550 5.1.1 Your domain has no MX",
    "550 5.1.1 HELO hostname unknown",
    "550 5.1.1 unknown host (HELO)",
    "550 5.1.1 client host unknown",
    "550 Access denied, user not found in allowed list",
    "550 5.7.134 RESOLVER.RST.SenderNotAuthenticatedForMailbox; authentication required",
    "550-5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.",
    "550-5.7.1 Unauthenticated email from example.com is not accepted due to domain's DMARC policy.",
    "550 5.7.25 The IP address sending this message does not have a PTR record setup",
    "550 5.7.515 Access denied, sending domain example.com doesn't meet the required authentication level.",
    "550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification and has a DMARC policy of reject.",
    "554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes",
    "550 5.7.23 The message was rejected because of Sender Policy Framework violation",
    "550 5.1.0 <me@example.net>: Sender address rejected: User unknown in virtual mailbox table",
    "450 4.1.8 <me@example.net>: Sender address rejected: Domain not found",
    "553 5.1.8 <me@example.net>... Domain of sender address me@example.net does not exist",
    "550-Verification failed for <me@example.net> 550-No Such User Here 550 Sender verify failed",
    "550 Cannot verify the return address: user unknown",
    "550 Sender address has null MX",
    "550-Requested action not taken: mailbox unavailable 550 invalid DNS MX or A/AAAA resource record",
    "550-Requested action not taken: mailbox unavailable 550 Reject due to policy restrictions",
    "550 Callback setup failed while verifying <me@example.net>: The initial connection, or a HELO or MAIL FROM:<> command was rejected",
    "553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)",
    "550 5.7.1 <mail.example.net>: Helo command rejected: Host not found",
    "554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: cannot find your reverse hostname, [192.0.2.1]",
    "550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)",
    "550 5.7.1 SPF unauthorized mail is prohibited.",
    "550 5.7.0 [SPF] 192.0.2.1 is not allowed to send mail from example.com",
    "550 SPF Sender Invalid - envelope rejected - https://community.mimecast.com/docs/DOC-1369#550",
    "550 Anti-Spoofing policy - Inbound not allowed - https://community.mimecast.com/docs/DOC-1369#550",
    "550 5.7.1 Message rejected as spam by Content Filtering.",
    "550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=1",
    "554 5.7.1 Spam message rejected",
    "552 message rejected by anti-spam engine.",
    "554 DT:SPM 163 smtp1,D9GowACnb8XT,please see http://mail.163.com/help/help_spam_16.htm: mail content rejected",
    "554 5.7.1 [1] Message rejected under suspicion of SPAM",
    '550 "JunkMail rejected - mail.example.net [192.0.2.1]:25 is in an RBL"',
    "550 High probability of spam",
    "550 5.7.1 Your message looks like SPAM, no such user was harmed",
    "554 5.6.0 Mail message is malformed. Not accepted.",
    "550 5.7.1 Our system has detected that this message is not RFC 5322 compliant: duplicate headers",
    "552-5.7.0 This message was blocked because its content presents a potential security issue.",
    "554 Virus Signature Detected",
    "550 This message contains a blocked extension (.exe)",
    "550 5.7.1 Message contains an attachment type that is not allowed",
    "552 5.3.4 Message size exceeds fixed limit",
    "552 Message size limit exceeded",
    "552 sorry, that message size exceeds my databytes limit (#5.3.4)",
    "550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient",
    "550 5.7.1 Policy rejection on the target address",
    "550-5.7.1 The user or domain that you are sending to (or from) has a policy that prohibited the mail that you sent.",
    "550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group",
    "550 5.7.124 RESOLVER.RST.NotInAllowedSenders; delivery not authorized, message refused",
    "550 5.7.1 Delivery not authorized, message refused",
    "550 5.7.1 Recipient doesn't want your mail",
    "550 Mail is rejected by recipients",
    "554 5.7.1 <joe@example.com>: Recipient address rejected: Access denied",
    "554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554",
    "550 Envelope blocked - User Entry - https://community.mimecast.com/docs/DOC-1369#550",
    "550 Administrative prohibition",
    "550 5.7.0 Local Policy Violation",
    "554 5.7.1 Access denied",
    "550 blocked",
    "571 Blocked",
    "550 5.1.1 <joe@example.com> rejected by local policy: sender not on white list",
    "550 5.7.1 Unfamiliar sender denied",
    "541 5.4.1 Mail rejected by destination domain",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({ bounceClass: "block", suppress: false });
  });
});

describe("a problem at the receiver, or an unclear reply, is soft and never suppresses", () => {
  test.each([
    "550 5.1.1 Unable to verify address",
    "550 5.1.1 could not verify recipient, callout failed",
    "554 This message has been in the queue too long",
    "421 Service not available, closing transmission channel",
    "451 4.3.0 Mail server temporarily rejected message. - gsmtp",
    "451 Requested action aborted: local error in processing",
    "452 4.3.1 Insufficient system storage",
    "450 4.1.1 <joe@example.com>: Recipient address rejected: unverified address: Address lookup failed",
    "450 4.1.1 <joe@example.com>: Recipient address rejected: User unknown in local recipient table",
    "450 Requested mail action not taken: mailbox unavailable",
    "451 4.3.5 Server configuration error",
    "451 Temporary local problem - please try later",
    "451 qq temporary problem (#4.3.0)",
    "421 4.4.2 example.com Error: timeout exceeded",
    "450 4.2.0 Recipient temporarily unavailable",
    "554 delivery error: dd This account has been temporarily suspended. Please try again later.",
    "550 5.2.1 Mailbox temporarily disabled",
    "554 5.4.6 Too many hops",
    "550 5.4.6 Mail loop detected",
    "554 5.4.14 Hop count exceeded - possible mail loop ATTR34",
    "521 5.3.0 Upstream error, please check the destination",
    "550 5.3.0 Internal server error",
    "550 4.4.7 QUEUE.Expired; message expired",
    "550 5.7.1 Relaying denied",
    "554 5.7.1 <joe@example.com>: Relay access denied",
    "554 5.4.1 <joe@example.com>: Relay access denied",
    "550 5.4.1 Relay Access Denied",
    "550 LDAP error, recipient not found in directory: timeout",
    "550 5.1.1 <joe@example.com>: user unknown (look-up timed out)",
    "550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain",
    "550 relay not permitted",
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    "550 Domain not found",
    "554 delivery error: dd Requested mail action aborted",
    "554 Transaction failed",
    "550 5.0.0",
    "550",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({ bounceClass: "soft", suppress: false });
  });
});

describe("a fault of our side is ours", () => {
  test.each([
    "500 Syntax error, command unrecognized",
    "501 Syntax error in parameters or arguments",
    "503 5.5.1 Bad sequence of commands",
    "530 5.7.0 Must issue a STARTTLS command first",
    "454 4.7.0 TLS not available due to local reason",
    "555 5.5.4 Unsupported option: SIZE",
    "550 <joe@example.com>: Syntax error in parameters or arguments",
  ])("%s", (reply) => {
    expect(judge(reply)).toMatchObject({ bounceClass: "ours", category: "ProtocolError", suppress: false });
  });
});

const corpus = resolve(process.env.POSTHASTE_CORPORA ?? "../shared/corpora", "smtp-replies/replies.tsv");

describe.skipIf(!existsSync(corpus))("the corpus of provider replies", () => {
  const rows = existsSync(corpus) ? readFileSync(corpus, "utf8").trim().split("\n").slice(1) : [];
  const verdicts = rows.map((row) => {
    const [, , reply = "", code, enhanced, retry, , suppress] = row.split("\t");
    const verdict = classifyReply({
      code: Number(code),
      enhanced: enhanced || null,
      text: reply,
      stage: "rcpt",
    });
    return { reply, retry: retry === "yes", suppress, verdict };
  });

  test("retry is exact", () => {
    expect(verdicts.filter(({ retry, verdict }) => retry !== verdict.retry)).toEqual([]);
  });

  test("no address is suppressed by mistake, and at least 95 % of the unknown ones are", () => {
    expect(verdicts.filter(({ suppress, verdict }) => suppress === "no" && verdict.suppress)).toEqual([]);
    const unknown = verdicts.filter(({ suppress }) => suppress === "yes");
    const found = unknown.filter(({ verdict }) => verdict.suppress);
    expect(found.length / unknown.length).toBeGreaterThanOrEqual(0.95);
  });
});

test.each(["送信者", "不明", "一", "д", "שולח", "αγνωστααα", "absender ", "saa", "не найден"])(
  "a reply takes CPU time in proportion to its characters: %j",
  (piece) => {
    const replyOf = (size: number) => `550 ${piece.repeat(size)}`.slice(0, size);
    expectLinearCost(1_000, replyOf, (reply) => {
      for (let count = 0; count < 5; count++) judge(reply);
    });
  },
);
