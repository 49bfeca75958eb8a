import { describe, expect, test } from "vitest";
import { readBounce } from "./read-bounce.ts";

const RECIPIENT = "anna@example.com";

function read(text: string, subject = "Mail", from = "Mail Delivery System <MAILER-DAEMON@mx.example.net>") {
  const header = `From: ${from}\nTo: b.token@bounce.sender.example\nSubject: ${subject}\nContent-Type: text/plain; charset=utf-8\n`;
  return readBounce(Buffer.from(`${header}\n${text}\n`.replace(/\n/g, "\r\n")));
}

function expectOf(kind: "bounce" | "notice", action: string, bounce: ReturnType<typeof readBounce>) {
  expect(bounce).toMatchObject({ kind, recipients: [{ address: RECIPIENT, action }] });
}

describe("a delay described only in text is an event and no bounce", () => {
  test.each([
    [
      "French",
      "Votre message n'a pas encore pu être remis à <anna@example.com>.\nLe serveur continuera ses tentatives pendant 5 jours.",
    ],
    [
      "French",
      "Bonjour,\n\nLa remise de votre message au destinataire suivant est retardée :\n\nanna@example.com\n\nAucune action de votre part n'est nécessaire. De nouvelles tentatives seront effectuées.",
    ],
    [
      "French",
      "Ceci est un simple avertissement. Il n'est pas nécessaire de renvoyer votre message à anna@example.com.",
    ],
    [
      "French",
      "Le courrier envoyé à anna@example.com est en retard. Nous allons réessayer pendant 48 heures.",
    ],
    [
      "Spanish",
      "Su mensaje aún no se ha podido entregar a <anna@example.com>.\nEl servidor seguirá intentando entregarlo durante 5 días.",
    ],
    [
      "Spanish",
      "La entrega del mensaje a los siguientes destinatarios se ha retrasado:\n\nanna@example.com\n\nNo es necesario que vuelva a enviar el mensaje.",
    ],
    [
      "Spanish",
      "El mensaje para anna@example.com todavía no ha sido entregado. Se volverá a intentar más tarde.",
    ],
    [
      "German",
      "Ihre Nachricht an anna@example.com konnte bisher nicht zugestellt werden.\nDie Zustellung wird weiterhin versucht.",
    ],
    ["German", "Die Zustellung Ihrer Nachricht an folgende Empfänger verzögert sich:\n\nanna@example.com"],
    [
      "Italian",
      "Il messaggio non è stato ancora consegnato a anna@example.com.\nVerranno effettuati altri tentativi nei prossimi 5 giorni.",
    ],
    ["Italian", "La consegna del messaggio ad anna@example.com è stata ritardata. Il sistema riproverà."],
    [
      "Portuguese",
      "A sua mensagem ainda não foi entregue a anna@example.com.\nO servidor continuará a tentar durante 5 dias.",
    ],
    [
      "Portuguese",
      "A entrega da mensagem para anna@example.com está atrasada. Não é necessário reenviar a mensagem.",
    ],
    [
      "Dutch",
      "Uw bericht aan anna@example.com is nog niet bezorgd.\nDe server blijft het de komende dagen proberen.",
    ],
    [
      "Dutch",
      "De bezorging van uw bericht is vertraagd:\n\nanna@example.com\n\nHet wordt later opnieuw geprobeerd.",
    ],
    [
      "Polish",
      "Wiadomość do anna@example.com nie została jeszcze dostarczona.\nKolejne próby będą podejmowane przez 5 dni.",
    ],
    ["Polish", "Dostarczenie wiadomości jest opóźnione:\n\nanna@example.com"],
    [
      "Russian",
      "Ваше сообщение для anna@example.com ещё не доставлено.\nПопытки доставки будут продолжены в течение 5 дней.",
    ],
    [
      "Russian",
      "Доставка письма задерживается:\n\nanna@example.com\n\nСервер будет пытаться доставить его ещё 3 дня.",
    ],
    ["Ukrainian", "Ваше повідомлення для anna@example.com ще не доставлено. Спроби будуть продовжені."],
    [
      "Japanese",
      "あなたのメールはまだ配信されていません。\n\nanna@example.com\n\nこのメールの再送を続けます。",
    ],
    ["Japanese", "anna@example.com宛てのメールの配信が遅延しています。引き続き配信を試みます。"],
    ["Chinese", "您发给 anna@example.com 的邮件尚未送达，系统将继续尝试投递。"],
    ["Chinese", "郵件投遞延遲：\n\nanna@example.com\n\n系統會繼續重試。"],
    ["Korean", "anna@example.com 님에게 보낸 메일의 전송이 지연되고 있습니다. 계속 전송을 시도합니다."],
    [
      "Swedish",
      "Ditt meddelande till anna@example.com har ännu inte levererats. Nya försök kommer att göras.",
    ],
    ["Danish", "Din meddelelse til anna@example.com er endnu ikke blevet leveret. Serveren forsøger igen."],
    ["Norwegian", "Meldingen din til anna@example.com er forsinket og vil bli forsøkt levert igjen."],
    [
      "Finnish",
      "Viestiäsi vastaanottajalle anna@example.com ei ole vielä toimitettu. Toimitusta yritetään uudelleen.",
    ],
    ["Czech", "Vaše zpráva pro anna@example.com nebyla dosud doručena. Další pokusy budou následovat."],
    ["Slovak", "Vaša správa pre anna@example.com sa oneskorila a bude sa opakovane doručovať."],
    [
      "Hungarian",
      "Az üzenet kézbesítése késik a következő címre:\n\nanna@example.com\n\nA kiszolgáló újra megpróbálja.",
    ],
    ["Romanian", "Mesajul către anna@example.com nu a fost încă livrat și va fi reîncercat."],
    ["Turkish", "İletiniz anna@example.com adresine henüz teslim edilemedi, tekrar denenecektir."],
    ["Greek", "Το μήνυμά σας προς anna@example.com καθυστερεί. Θα συνεχίσουμε να προσπαθούμε."],
    ["German", "Die Übermittlung an folgende Empfänger ist verzögert:\n\nanna@example.com"],
    ["French", "La remise à anna@example.com est retardée. Vous serez averti si elle échoue définitivement."],
    [
      "English",
      "There was a temporary problem delivering your message to anna@example.com. We will retry for 47 more hours. You'll be notified if the delivery fails permanently.",
    ],
    ["English", "Your message to anna@example.com has not yet been delivered. We will keep trying."],
  ])("%s: %s", (_, text) => {
    expectOf("notice", "delayed", read(text));
  });

  test.each([
    ["Catalan", "El vostre missatge a anna@example.com encara no s'ha pogut lliurar. Es tornarà a intentar."],
    ["Lithuanian", "Jūsų laiškas gavėjui anna@example.com dar nepristatytas. Bus bandoma dar kartą."],
    ["Latvian", "Jūsu ziņojums adresātam anna@example.com vēl nav piegādāts. Mēģināsim vēlreiz."],
    ["Estonian", "Teie kirja saajale anna@example.com ei ole veel kohale toimetatud. Proovime uuesti."],
    ["Serbian", "Ваша порука за anna@example.com још није испоручена. Покушаћемо поново."],
    ["Thai", "ข้อความของคุณถึง anna@example.com ยังไม่ได้จัดส่ง ระบบจะลองอีกครั้ง"],
    ["Persian", "پیام شما به anna@example.com هنوز تحویل نشده است. دوباره تلاش خواهد شد."],
    ["Hindi", "आपका संदेश anna@example.com को अभी तक डिलीवर नहीं हुआ है। हम फिर से प्रयास करेंगे।"],
    ["English", "The message has been queued for 12 hours and is still undelivered: anna@example.com"],
    ["English", "The message had non-fatal delivery errors and is still in the queue: anna@example.com"],
  ])("%s: %s", (_, text) => {
    expectOf("notice", "delayed", read(text));
  });

  test.each([
    ["French", "Remise retardée : Bonjour", "Destinataire : anna@example.com"],
    ["Spanish", "Entrega retrasada: su pedido", "Destinatario: anna@example.com"],
    ["German", "Verzögerte Zustellung: Hallo", "Empfänger: anna@example.com"],
    ["Japanese", "配信遅延のお知らせ", "anna@example.com"],
  ])("%s, described by a subject in raw UTF-8: %s", (_, subject, text) => {
    expectOf("notice", "delayed", read(text, subject));
  });

  test.each([
    ["a reply code", "550 vesto dinari"],
    ["a status", "5.4.7"],
  ])("unless %s in it says that the failure is permanent: then it is a soft bounce", (_, code) => {
    const text = `Votre message n'a pas encore pu être remis :\n\n<anna@example.com>: ${code}\n\nNous allons réessayer.`;
    const bounce = read(text);
    expectOf("bounce", "failed", bounce);
    expect(bounce?.recipients[0]?.verdict).toMatchObject({ suppress: false });
  });

  test("a temporary server reply in it makes no difference", () => {
    const text =
      "Votre message n'a pas encore pu être remis :\n\n<anna@example.com>: 450 4.2.1 try again later\n\nNous allons réessayer.";
    expectOf("notice", "delayed", read(text));
  });
});

describe("text that is not understood is an event and no bounce", () => {
  test.each([
    ["an unknown language", "Quruŋ baro teluma <anna@example.com> vesto dinari."],
    ["a subject in raw UTF-8", "anna@example.com\n", "Ĝenerala avizo — ŝanĝo"],
    ["an address alone", "anna@example.com\n", "Report"],
    ["a neutral subject", "anna@example.com\n", "Delivery Status Notification"],
  ])("%s", (_, text, subject = "Mail") => {
    expectOf("notice", "delayed", read(text, subject));
  });

  test.each([
    ["a status", "Quruŋ baro teluma <anna@example.com> vesto 5.1.1 dinari."],
    ["a reply code", "Quruŋ baro teluma:\n<anna@example.com>: 550 vesto dinari"],
    ["an English sentence", "Quruŋ baro. Your message could not be delivered to anna@example.com."],
  ])("unless it contains %s", (_, text) => {
    expectOf("bounce", "failed", read(text));
  });
});

describe("a failure described only in text is a bounce in other languages too", () => {
  test.each([
    ["French", "Votre message n'a pas pu être remis à anna@example.com."],
    ["French", "Échec de la remise du message aux destinataires suivants :\n\nanna@example.com"],
    [
      "French",
      "Il est impossible de remettre votre message : la boîte aux lettres de anna@example.com est pleine.",
    ],
    ["Spanish", "No se ha podido entregar el mensaje a anna@example.com."],
    ["Spanish", "Error en la entrega de su mensaje:\n\nanna@example.com\n\nEl buzón está lleno."],
    ["German", "Ihre Nachricht an anna@example.com konnte nicht zugestellt werden."],
    ["German", "Fehler bei der Zustellung:\n\nanna@example.com\n\nDas Postfach ist voll."],
    ["Italian", "Impossibile recapitare il messaggio a anna@example.com."],
    ["Italian", "Il messaggio non è stato consegnato al seguente destinatario:\n\nanna@example.com"],
    ["Portuguese", "Não foi possível entregar a sua mensagem para anna@example.com."],
    ["Dutch", "Uw bericht aan anna@example.com kon niet worden bezorgd."],
    ["Polish", "Nie można dostarczyć wiadomości do anna@example.com."],
    ["Russian", "Не удалось доставить сообщение для anna@example.com."],
    ["Ukrainian", "Не вдалося доставити повідомлення для anna@example.com."],
    [
      "Japanese",
      "下記の宛先にメールを配信できませんでした。\n\nanna@example.com\n\nお手数ですが再送信してください。",
    ],
    ["Japanese", "メールを送信できませんでした：anna@example.comは存在しません。"],
    ["Chinese", "抱歉，您的邮件无法投递给 anna@example.com，请稍后重试。"],
    ["Chinese", "很抱歉，您的郵件無法送達：anna@example.com"],
    ["Korean", "anna@example.com 님에게 메일을 전송하지 못했습니다."],
    ["Swedish", "Ditt meddelande till anna@example.com kunde inte levereras."],
    ["Danish", "Din meddelelse til anna@example.com kunne ikke leveres."],
    ["Norwegian", "Meldingen til anna@example.com kunne ikke leveres."],
    ["Finnish", "Viestiäsi ei voitu toimittaa vastaanottajalle anna@example.com."],
    ["Czech", "Vaši zprávu se nepodařilo doručit na adresu anna@example.com."],
    ["Slovak", "Vašu správu nebolo možné doručiť na adresu anna@example.com."],
    ["Hungarian", "Az üzenetet nem sikerült kézbesíteni a következő címzettnek: anna@example.com"],
    ["Romanian", "Mesajul nu a putut fi livrat către anna@example.com."],
    ["Turkish", "İletiniz anna@example.com adresine teslim edilemedi."],
    ["Greek", "Δεν ήταν δυνατή η παράδοση του μηνύματος στον παραλήπτη anna@example.com."],
    ["Hebrew", "ההודעה אל anna@example.com לא נמסרה."],
    ["Arabic", "تعذر تسليم رسالتك إلى anna@example.com"],
    ["Catalan", "No s'ha pogut lliurar el missatge a anna@example.com."],
    ["Icelandic", "Ekki var hægt að afhenda skilaboðin til anna@example.com."],
    ["Lithuanian", "Nepavyko pristatyti laiško gavėjui anna@example.com."],
    ["Latvian", "Neizdevās piegādāt ziņojumu adresātam anna@example.com."],
    ["Estonian", "Kirja ei õnnestunud kohale toimetada: anna@example.com"],
    ["Serbian", "Ваша порука за anna@example.com није испоручена."],
    ["Bulgarian", "Доставката до следния получател е неуспешна: anna@example.com"],
    ["Vietnamese", "Gửi đến anna@example.com không thành công."],
    ["Indonesian", "Pengiriman pesan ke anna@example.com gagal."],
    ["Thai", "ไม่สามารถส่งข้อความถึง anna@example.com ได้"],
    ["Persian", "تحویل پیام شما به anna@example.com ناموفق بود"],
    ["Hindi", "आपका संदेश anna@example.com को डिलीवर नहीं हुआ"],
  ])("%s: %s", (_, text) => {
    expectOf("bounce", "failed", read(text));
  });

  test.each([
    ["German", "Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:"],
    ["Dutch", "Bezorging aan de volgende geadresseerden of groepen is mislukt:"],
    ["Polish", "Dostarczenie do tych adresatów lub grup nie powiodło się:"],
    ["Danish", "Levering til disse modtagere eller grupper mislykkedes:"],
    ["Norwegian", "Levering til disse mottakerne eller gruppene mislyktes:"],
    ["Romanian", "Livrarea către acești destinatari sau grupuri a eșuat:"],
    ["Greek", "Η παράδοση σε αυτούς τους παραλήπτες ή ομάδες απέτυχε:"],
    ["Chinese", "无法将邮件传递给以下收件人或组:"],
    ["Lithuanian", "Nepavyko pristatyti šiems gavėjams ar grupėms:"],
    ["Latvian", "Neizdevās piegādāt šiem adresātiem vai grupām:"],
    ["Estonian", "Kohaletoimetamine nendele adressaatidele või rühmadele nurjus:"],
    ["Thai", "การจัดส่งไปยังผู้รับหรือกลุ่มเหล่านี้ล้มเหลว:"],
    ["Persian", "تحویل به این گیرندگان یا گروه‌ها ناموفق بود:"],
  ])("%s, with many words between delivery and failure, from a postmaster: %s", (_, text) => {
    const bounce = read(`${text}\n\nanna@example.com\n`, "Your order", "postmaster@example.com");
    expectOf("bounce", "failed", bounce);
  });

  test.each([
    [
      "French",
      "Votre message pour anna@example.com a été retardé et n'a pas pu être remis. Aucune autre tentative ne sera faite.",
    ],
    ["Spanish", "La entrega a anna@example.com se ha retrasado 5 días. No se volverá a intentar."],
    ["German", "Die Zustellung an anna@example.com hat sich verzögert und wurde endgültig aufgegeben."],
    ["Japanese", "anna@example.com への配信が遅延していましたが、配信を断念しました。"],
  ])("%s, after a delay: a soft bounce", (_, text) => {
    const bounce = read(text);
    expectOf("bounce", "failed", bounce);
    expect(bounce?.recipients[0]?.verdict).toMatchObject({ bounceClass: "soft", suppress: false });
  });

  test.each([["ISO-2022-JP", "iso-2022-jp", "1b2442475b3f2e2447242d245e243b247324472437243f1b2842"]])(
    "in %s",
    (_, charset, hex) => {
      const header = `From: MAILER-DAEMON@example.net\nSubject: x\nContent-Type: text/plain; charset=${charset}\n\n`;
      const text = Buffer.from(hex.replaceAll(" ", ""), "hex");
      const bounce = readBounce(
        Buffer.concat([Buffer.from(header), text, Buffer.from("\nanna@example.com\n")]),
      );
      expectOf("bounce", "failed", bounce);
    },
  );
});

describe("a success described only in text is no bounce", () => {
  test.each([
    ["Successful Mail Delivery Report", "Your message was successfully delivered to anna@example.com."],
    ["Delivery Status Notification (Success)", "anna@example.com\n"],
    ["Delivery report", "Your message has been delivered to anna@example.com."],
  ])("%s", (subject, text) => {
    expectOf("notice", "delivered", read(text, subject));
  });

  test("but an unsuccessful delivery is", () => {
    expectOf(
      "bounce",
      "failed",
      read("The delivery to anna@example.com was unsuccessful.", "Unsuccessful delivery"),
    );
  });
});

describe("a bounce that looks like a person's mail", () => {
  const FULL = "Could not be delivered to: <anna@carrier.example>\n\nAs their mailbox is full.\n";
  const returned = (inner: string) =>
    `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n${inner}\n--b\nContent-Type: message/rfc822\n\nFrom: news@ours.example\nTo: anna@carrier.example\nSubject: Your order\n\nHello\n--b--\n`;
  const from = (header: string, body: string) => readBounce(Buffer.from(`From: ${header}\n${body}`));

  test.each([
    ["English", FULL],
    ["German", "Diese Nachricht konnte nicht zugestellt werden: anna@carrier.example\n"],
    ["Japanese", "宛先不明のため配信できませんでした。\nanna@carrier.example\n"],
    ["a sentence without an address", "Sorry, your mail could not be delivered.\n"],
    ["a refusal", "550 5.1.1 anna@carrier.example unknown user\n"],
  ])("is a bounce with our message inside and one clear sentence: %s", (_, text) => {
    const bounce = from("no-reply@carrier.example\nSubject: Mail", returned(text));
    expect(bounce).toMatchObject({ kind: "bounce", recipients: [{ address: "anna@carrier.example" }] });
  });

  test("is a bounce with our message in the text, recognized by its token", () => {
    const text = `\n${FULL}\n--- Original message ---\nX-Posthaste-Message: b.token\nTo: anna@carrier.example\nSubject: Your order\n\nHello\n`;
    expect(from("Carrier <info@carrier.example>\nSubject: Re: Your order", text)?.kind).toBe("bounce");
  });

  test("is a bounce with our message attached as a file", () => {
    const file = Buffer.from("From: news@ours.example\nTo: anna@carrier.example\n\nHello\n").toString(
      "base64",
    );
    const body = `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n${FULL}\n--b\nContent-Type: application/octet-stream; name="original.eml"\nContent-Transfer-Encoding: base64\n\n${file}\n--b--\n`;
    expect(from("no-reply@carrier.example\nSubject: Mail", body)?.kind).toBe("bounce");
  });

  test.each(["", "> "])(
    "is a bounce with our header in the text, after %j and without an announcement",
    (mark) => {
      const quoted = ["From: news@ours.example", "X-Posthaste-Message: b.token", "To: anna@carrier.example"];
      const text = `\n${FULL}\n${quoted.map((line) => `${mark}${line}`).join("\n")}\n`;
      expect(from("no-reply@carrier.example\nSubject: Mail", text)?.kind).toBe("bounce");
    },
  );

  test.each([
    ["without our message", "info@carrier.example\nSubject: Mail", `\n${FULL}`],
    [
      "that quotes our message like a person's reply",
      "anna@carrier.example\nSubject: Re: Your order",
      `\nIt could not be delivered.\n\n-----Original Message-----\nFrom: news@ours.example\nSent: Monday\nTo: anna\n\nHello\n`,
    ],
    [
      "with our message but no such sentence",
      "anna@carrier.example\nSubject: Mail",
      returned("Thank you, I have it.\n"),
    ],
  ])("is no bounce %s", (_, header, body) => {
    expect(from(header, body)).toBeNull();
  });

  test("is no bounce if it is marked as an automatic reply", () => {
    const header = "anna@carrier.example\nSubject: Mail\nAuto-Submitted: auto-replied";
    expect(from(header, returned(FULL))?.kind).toBe("auto_reply");
  });

  test("is not recognized by the text of our own returned message", () => {
    const ours = returned("Hello")
      .replace("Subject: Your order", "Subject: Delivery failed\nX-Posthaste-Message: b.token")
      .replace("\n\nHello\n--b--", "\n\nYour parcel could not be delivered.\n--b--");
    expect(from("anna@carrier.example\nSubject: Mail", ours)).toBeNull();
  });
});
