import { describe, expect, test } from "vitest";
import type { BounceCategory } from "#mail/refusals/reply-codes.ts";
import { readBounce } from "./read-bounce.ts";

const DAEMON = "Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>";

function mail(headers: Readonly<Record<string, string>>, body: string): Buffer {
  const lines = Object.entries({ From: DAEMON, To: "b.token@bounce.sender.example", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body.replace(/\n/g, "\r\n")}`);
}

interface Expected {
  readonly system: string;
  readonly subject?: string;
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly recipients: readonly string[];
  readonly category: BounceCategory;
}

const RETURNED =
  "Return-Path: <b.token@bounce.sender.example>\nReceived: from a by b\nTo: other@elsewhere.example\n\nHello\n";

describe("bounces without a delivery-status part", () => {
  test.each<Expected>([
    {
      system: "qmail",
      subject: "failure notice",
      body: `Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<anna@example.com>:
192.0.2.7 does not like recipient.
Remote host said: 550 5.1.1 <forwarded@inner.example>: Recipient address rejected: User unknown
Giving up on 192.0.2.7.

<berta@example.com>:
The user's mailfolder is full.

--- Below this line is a copy of the message.

${RETURNED}`,
      recipients: ["anna@example.com", "berta@example.com"],
      category: "NoEmail",
    },
    {
      system: "qmail with a Spanish text",
      subject: "failure notice",
      body: `Su mensaje no pudo ser entregado - Your message could not be delivered.

<anna@example.com>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Mensaje original adjunto.

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Exim",
      subject: "Mail delivery failed: returning message to sender",
      body: `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  anna@example.com
    host mx.example.com [192.0.2.7]
    SMTP error from remote mail server after RCPT TO:<anna@example.com>:
    550 5.1.1 <other@inner.example> user unknown
  deep@forwarded.example
    (generated from berta@example.com)
    mailbox is full: retry timeout exceeded

------ This is a copy of the message, including all the headers. ------

${RETURNED}`,
      recipients: ["anna@example.com", "berta@example.com"],
      category: "NoEmail",
    },
    {
      system: "Exim with the recipients only in a header field",
      subject: "Mail delivery failed",
      headers: { "X-Failed-Recipients": "anna@example.com,\r\n berta@example.com" },
      body: "A message that you sent could not be delivered: all relevant MX records point to non-existent hosts\n",
      recipients: ["anna@example.com", "berta@example.com"],
      category: "Undetermined",
    },
    {
      system: "Sendmail 8",
      subject: "Returned mail: see transcript for details",
      body: `The original message was received at Sun, 4 Nov 2012 10:32:05 +0400
from client.example [192.0.2.8]

   ----- The following addresses had permanent fatal errors -----
<anna@example.com>
    (reason: 550 5.1.1 User unknown)

   ----- Transcript of session follows -----
... while talking to mx.example.com:
>>> DATA
<<< 550 5.1.1 User unknown
550 5.1.1 <anna@example.com>... User unknown
<<< 503 5.0.0 Need RCPT (recipient)

   ----- Original message follows -----

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Sendmail 5",
      subject: "Returned mail: User unknown",
      body: `   ----- Transcript of session follows -----
While talking to mx.example.com:
>>> RCPT To:<anna@example.com>
<<< 550 5.1.1 <anna@example.com>... User Unknown
550 anna@example.com... User unknown

   ----- Unsent message follows -----
${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Postfix without a report part",
      subject: "Undelivered Mail Returned to Sender",
      body: `This is the mail system at host mx.example.net.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to <postmaster@mx.example.net>

If you do so, please include this problem report. You can
delete your own text from the attached returned message.

                   The mail system

<anna@example.com> (expanded from <list@example.com>): host mx.example.com[192.0.2.7] said: 550
    <anna@example.com>: Recipient address rejected: User unknown in virtual
    mailbox table (in reply to RCPT TO command)
`,
      recipients: ["list@example.com"],
      category: "NoEmail",
    },
    {
      system: "Courier",
      subject: "NOTICE: mail delivery status.",
      body: `This is a delivery status notification from mx.example.net,
running the Courier mail server, version 0.65.2.

The original message was received on Sat, 11 Dec 2010 12:19:57 +0900
from [127.0.0.1]

---------------------------------------------------------------------------

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<anna@example.com>:
    mx.example.com [192.0.2.7]:
>>> RCPT TO:<anna@example.com>
<<< 550 5.1.1 <anna@example.com>... User Unknown

---------------------------------------------------------------------------
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Exchange 5.5 with an X.400 name",
      from: "System Administrator <postmaster@example.com>",
      subject: "Undeliverable: Hello",
      body: `Your message

  To:      'someone@elsewhere.example'
  Cc:      third@elsewhere.example
  Subject: Hello
  Sent:    Fri, 4 Oct 2002 17:10:56 -0400

did not reach the following recipient(s):

c=US;a= ;p=EXAMPLE;o=Site;dda:SMTP=ANNA@EXAMPLE.COM; on Fri, 4 Oct 2002
17:12:28 -0400
    The recipient name is not recognized
	The MTS-ID of the original message is: c=us;a= ;p=example;l=MX010210042112
    MSEXCH:IMS:EXAMPLE:Site:MX 0 (000C05A6) Unknown Recipient
`,
      recipients: ["ANNA@EXAMPLE.COM"],
      category: "NoEmail",
    },
    {
      system: "Exchange 2007",
      from: "Microsoft Exchange <postmaster@example.com>",
      subject: "Undeliverable: Hello",
      body: `Delivery has failed to these recipients or distribution lists:

anna@example.com<mailto:anna@example.com>
The recipient's e-mail address was not found in the recipient's e-mail system. Microsoft Exchange will not try to redeliver this message for you.

Diagnostic information for administrators:

Generating server: mx.example.com

anna@example.com
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##rfc822;anna@example.com

Original message headers:

Received: from mx.example.net
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Office 365",
      from: "postmaster@example.com",
      subject: "Undeliverable: Hello",
      body: `Your message to anna@example.com couldn't be delivered.

anna wasn't found at example.com.

sender                     Office 365         anna
Action Required                               Recipient
Unknown To address

Reported error: 550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient anna@example.com not found by SMTP address lookup
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Gmail",
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      body: `** Address not found **

Your message wasn't delivered to anna@example.com because the address couldn't be found, or is unable to receive mail.

Learn more here: https://support.google.com/mail/?p=NoSuchUser

The response was:

550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces.
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "an old Gmail",
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      body: `Delivery to the following recipient failed permanently:

     anna@example.com

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the server for the recipient domain example.com by mx.example.com. [192.0.2.7].

The error that the other server returned was:
550 5.1.1 User unknown

----- Original message -----

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Lotus Notes",
      subject: "Mail failure",
      from: "postmaster@example.com",
      body: `------- Failure Reasons  --------

User anna (anna@example.com) not listed in public Name & Address Book
anna@example.com

------- Returned Message --------

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Domino",
      from: "Postmaster@example.com",
      subject: "DELIVERY FAILURE: User anna (anna@example.com) not listed in Domino Directory",
      body: `Your message

  Subject: Hello

was not delivered to:

  anna@example.com

because:

  User anna (anna@example.com) not listed in Domino Directory

`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "IMail",
      from: '"Postmaster" <postmaster@mx.example.net>',
      subject: "Undeliverable Mail",
      body: `Invalid final delivery userid: anna@example.com

Original message follows.

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "IMail with a full mailbox",
      from: '"Postmaster" <postmaster@mx.example.net>',
      subject: "Undeliverable Mail",
      body: `User mailbox exceeds allowed size: anna@example.com

Original message follows.

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "MailboxFull",
    },
    {
      system: "GMX",
      subject: "Mail delivery failed: returning message to sender",
      body: `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

"anna@example.com":
SMTP error from remote server after RCPT command:
host: mx.example.com
5.1.1 <anna@example.com>... User Unknown

--- The header of the original message is following. ---

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Zoho",
      from: "mailer-daemon@mail.zoho.com",
      subject: "Undelivered Mail Returned to Sender",
      body: `This message was created automatically by mail delivery software.
A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.

anna@example.com Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <anna@example.com>: Recipient address rejected: User unknown

Received:from mail.zoho.com by mx.zohomail.com
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "OpenSMTPD",
      subject: "Delivery status notification: error",
      body: `    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

anna@example.com: 550 5.1.1 <anna@example.com>... User Unknown

    Below is a copy of the original message:

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "DragonFly",
      subject: "Mail delivery failed",
      body: `This is the DragonFly Mail Agent v0.13 at mx.example.net.

There was an error delivering your mail to <anna@example.com>.

mx.example.com [192.0.2.7] did not like our RCPT TO:
550 5.1.1 <anna@example.com>: Recipient address rejected: User unknown

Original message follows.

${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "MailMarshal",
      from: "postmaster@example.com",
      subject: "Undeliverable Mail: Hello",
      body: `Your message:
   From:    sender@sender.example
   Subject: Hello

Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    anna@example.com

Additional Information
======================
Original Sender:    <sender@sender.example>
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "SurfControl",
      from: "Postmaster <postmaster@example.com>",
      subject: "Message Rejected - Hello",
      body: `Your message could not be sent.
A transcript of the attempts to send the message follows.
The number of attempts made: 1
Addressed To: anna@example.com

Thu 29 Apr 2010 23:34:45 +0900
Failed to send to identified host,
anna@example.com: [192.0.2.7], 550 5.1.1 anna@example.com... No such user
--- Message non-deliverable.
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "MailFoundry",
      from: "MAILER-DAEMON@mx.example.net",
      subject: "Message delivery has failed",
      body: `Unable to deliver message to: <anna@example.com>
Delivery failed for the following reason:
Server mx.example.com[192.0.2.7] failed with: 550 <anna@example.com> No such user here

This has been a permanent failure.  No further delivery attempts will be made.
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "James",
      from: "postmaster@example.net",
      subject: "[BOUNCE]",
      body: `Hi. This is the James mail server at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.  Below
I include the list of recipients and the reason why I was unable to deliver
your message.

Failed recipient(s):
anna@example.com

Error message:
550 5.1.1 <anna@example.com>... User unknown
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "InterScan",
      from: "imss@example.com",
      subject: "Mail could not be delivered",
      body: `****** Message from InterScan Messaging Security Suite ******

Sent <<< RCPT TO:<anna@example.com>
Received >>> 550 5.1.1 <anna@example.com>... user unknown

Unable to deliver message to <anna@example.com> (and other recipients in the same domain).

************************     End of message     **********************
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "hMailServer",
      subject: "Message undeliverable: Hello",
      body: `Your message did not reach some or all of the intended recipients.

   Sent: Fri, 13 Feb 2009 16:57:55 -0800
   Subject: Hello

The following recipient(s) could not be reached:

anna@example.com
   Error Type: SMTP
   Remote server (192.0.2.7) issued an error.
   hMailServer sent: RCPT TO:<anna@example.com>
   Remote server replied: 550 5.1.1 <anna@example.com>... User unknown

hMailServer
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "Sun Messaging Server",
      from: "Internet Mail Delivery <postmaster@example.com>",
      subject: "Delivery Notification: Delivery has failed",
      body: `This report relates to a message you sent with the following header fields:

  Message-id: <4711@sender.example>
  Date: Fri, 21 Nov 2014 23:34:45 +0900
  From: Sender <sender@sender.example>
  To: anna@example.com
  Subject: Hello

Your message cannot be delivered to the following recipients:

  Recipient address: anna.intern@store.example.com
  Original address: anna@example.com
  Reason: Over quota

`,
      recipients: ["anna@example.com"],
      category: "MailboxFull",
    },
    {
      system: "a mobile carrier with a customer over quota",
      subject: "Mail System Error - Returned Mail",
      from: "Postmaster <Postmaster@carrier.example>",
      body: `Could not be delivered to: <anna@carrier.example>

As their mailbox is full.

`,
      recipients: ["anna@carrier.example"],
      category: "MailboxFull",
    },
    {
      system: "a carrier's gateway",
      subject: "Undeliverable Message",
      from: "post_master@carrier.example",
      body: `Error: Message could not be delivered to mobile.

No valid recipients for this MM: 15550100@carrier.example
`,
      recipients: ["15550100@carrier.example"],
      category: "NoEmail",
    },
    {
      system: "Biglobe",
      from: "postmaster@biglobe.example",
      subject: "Returned mail: User unknown",
      body: `   ----- The following addresses had delivery problems -----
anna@biglobe.example

   ----- Non-delivered information -----
The number of messages in recipient's mailbox exceeded the local limit.

   ----- Original message follows -----
`,
      recipients: ["anna@biglobe.example"],
      category: "MailboxFull",
    },
    {
      system: "a filter that begins with the server's reply",
      subject: "failure notice",
      body: `-------server message
550 5.1.1 unknown user <anna@example.com>
-------original message
${RETURNED}`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "mail.ru",
      from: "mailer-daemon@corp.mail.ru",
      subject: "Mail failure.",
      headers: { "Auto-Submitted": "auto-replied" },
      body: `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  anna@example.com
    Message was not accepted -- invalid mailbox.  Local mailbox anna@example.com is unavailable: user not found
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "a system that names users without domain",
      from: "Mail Delivery Subsystem <MAILER-DAEMON@provider.example>",
      subject: "Mail Delivery Problem",
      body: "Your mail to the following recipients could not be delivered:\n\n\tanna.smith\n",
      recipients: ["anna.smith@provider.example"],
      category: "Undetermined",
    },
    {
      system: "MDaemon",
      subject: "Permanent Delivery Failure",
      body: `The attached message had PERMANENT fatal delivery errors!

Failed address: anna@example.com

--- Session Transcript ---
 Tue 2008-05-06 13:39:16: <-- 550 5.1.1 <anna@example.com>... User unknown
--- End Transcript ---
: Message contains [1] file attachments
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "LISTSERV",
      from: "L-Soft list server <LISTSERV@lists.example>",
      subject: "Undelivered mail",
      body: `An error was detected while processing the enclosed message.

--> Error description:
Error-for:  anna@example.com
Error-Code: 3
Error-Text: Mailer said: "550 5.1.1 User unknown"

Error-End:  One error reported.
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "XMail",
      subject: "Error sending message [1234.5678] from [sender.example]",
      body: `[<00>] XMail bounce: Rcpt=[anna@example.com];Error=[550 5.1.1 User unknown]

[<01>] Error sending message [1234.5678] from [sender.example].

Mail From: <b.token@bounce.sender.example>
Rcpt To:   <anna@example.com>

[<02>] The reason of the delivery failure was:

550 5.1.1 User unknown
`,
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "a Chinese system in HTML",
      from: "PostMaster@qq.example",
      subject: "=?utf-8?B?6YCA5L+h?=",
      headers: { "Content-Type": "text/html; charset=utf-8" },
      body: "<p>抱歉，您的邮件被退回来了</p><table><tr><td>收件人</td><td>anna@example.com</td></tr><tr><td>退信原因</td><td>host mx.example.com[192.0.2.7] said: 550 5.1.1 User unknown</td></tr></table>",
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "a Spanish system",
      subject: "Error de entrega",
      body: "El mensaje no se pudo entregar a los siguientes destinatarios:\n\nanna@example.com\n  El usuario no existe\n",
      recipients: ["anna@example.com"],
      category: "NoEmail",
    },
    {
      system: "a help desk that gives its address for questions",
      subject: "Delivery failure",
      body: "Your message could not be delivered to anna@example.com. If you have\nquestions please contact our help desk at\nhelp@example.net or call us.\n",
      recipients: ["anna@example.com"],
      category: "Undetermined",
    },
    {
      system: "a German system",
      from: "Mail-Service <postmaster@example.de>",
      subject: "Ihre Nachricht konnte nicht zugestellt werden",
      body: `Ihre Nachricht konnte nicht zugestellt werden an:

anna@example.de

Empfänger unbekannt
`,
      recipients: ["anna@example.de"],
      category: "NoEmail",
    },
    {
      system: "a system whose returned message alone names the recipient",
      subject: "Undeliverable mail",
      body: "Your message could not be delivered.\n\n--- Original message follows ---\nReceived: from a by b\nTo: Anna <anna@example.com>\nSubject: Hello\n\nHello\n",
      recipients: ["anna@example.com"],
      category: "Undetermined",
    },
  ])("$system", ({ subject = "", from = DAEMON, headers = {}, body, recipients, category }) => {
    const bounce = readBounce(mail({ From: from, Subject: subject, ...headers }, body));
    expect(bounce?.kind).toBe("bounce");
    expect(bounce?.recipients.map(({ address }) => address)).toEqual(recipients);
    expect(bounce?.recipients[0]?.verdict?.category).toBe(category);
  });
});
