/** The meaning of kinds of sentences, each in the words and languages of many systems. */
import { describe, expect, test } from "vitest";
import { classifyReply, enhancedCode, type ReplyStage, type ReplyVerdict } from "./classify-reply.ts";

function judge(text: string, stage: ReplyStage = "report"): ReplyVerdict {
  const code = /^[45]\d\d/.exec(text)?.[0] ?? null;
  return classifyReply({
    code: code === null ? null : Number(code),
    enhanced: enhancedCode(text),
    text,
    stage,
  });
}

describe("the reply that a gateway quotes overrides the gateway's label", () => {
  test.each([
    "5.1.0 - Unknown address error 550-'5.7.1 <joe@example.com>: Recipient address rejected: Access denied' (delivery attempts: 0)",
    "5.1.1 - Bad destination email address 550-'5.7.1 Access denied' (delivery attempts: 0)",
    "5.1.0 - Unknown address error 554-'5.7.1 Service unavailable; Client host blocked using zen.spamhaus.org' (delivery attempts: 0)",
    "5.1.0 - Unknown address error ('550', ['5.7.1 Message refused by policy'])",
    '5.1.0 - Unknown address error 550-"5.7.1 Mail rejected as spam" (delivery attempts: 1)',
    "5.1.0 - Unknown address error 550-'Administrative prohibition' (delivery attempts: 0)",
    "550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 5.7.1 Message blocked by policy",
    "554 5.1.1 Remote Server returned '550 5.7.1 Client host is blacklisted'",
    "554 5.1.1 Invalid address [reply: 550 5.7.1 Message blocked]",
    "550 5.1.1 Recipient unknown (answer: 554 5.7.1 You are not allowed to connect)",
    "550 5.1.1 unknown user; remote server returned '<mx.example.com #5.7.1 smtp;550 5.7.1 Access denied>'",
  ])("%s", (text) => {
    expect(judge(text)).toMatchObject({ bounceClass: "block", suppress: false });
  });

  test.each([
    ["5.1.0 - Unknown address error 550-'5.1.1 User unknown' (delivery attempts: 0)", "NoEmail"],
    ["5.1.0 - Unknown address error 550-'No such user here' (delivery attempts: 0)", "NoEmail"],
    ["5.3.0 - Other mail system problem 550-'5.1.1 No such user' (delivery attempts: 0)", "NoEmail"],
    ["5.1.0 - Unknown address error 552-'5.2.2 Mailbox full' (delivery attempts: 0)", "MailboxFull"],
    ["5.1.0 - Unknown address error 550-'rejected' (delivery attempts: 0)", "Undetermined"],
    ["550 5.1.1 - User 'joe' is unknown", "NoEmail"],
    ["550 'joe@example.com' is not a registered user", "NoEmail"],
    [
      "5.1.2 - Bad destination host 'DNS Hard Error looking up example.com (MX): NXDomain' (delivery attempts: 0)",
      "NoEmail",
    ],
    [
      "550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 5.1.1 No such user",
      "NoEmail",
    ],
  ])("%s", (text, category) => {
    expect(judge(text).category).toBe(category);
  });

  test("a status field that repeats the gateway's label adds no evidence", () => {
    const text = "5.1.1 - Bad destination email address 550-'rejected' (delivery attempts: 0)";
    expect(classifyReply({ code: 550, enhanced: "5.1.1", text, stage: "report" }).suppress).toBe(false);
  });
});

describe('"does not exist or you may not write to it" is undetermined', () => {
  test.each([
    "The group you tried to contact (news) may not exist, or you may not have permission to post messages to the group.",
    "The mailbox does not exist, or you are not allowed to write to it",
    "The address does not exist or you do not have permission to send to it",
    "Recipient unknown or access denied",
    "The mailbox doesn't exist or you aren't allowed to write to it",
    "The recipient couldn't be found, or isn't permitted to get your mail",
    "Mailbox unavailable or access denied",
    "User not found or not authorized",
    "mailbox unavailable (mailbox not found, no access, or command rejected for policy reasons)",
    "You may not have permission to write to this mailbox, or it does not exist",
    "El grupo con el que ha intentado ponerse en contacto no existe, o no tiene permiso para publicar mensajes en él",
    "La dirección de correo no existe o usted no está autorizado a escribirle",
    "De groep bestaat niet of u bent niet gemachtigd om berichten in de groep te plaatsen",
    "Het e-mailadres bestaat niet, of u heeft geen toestemming om ernaar te schrijven",
    "dat de groep mogelijk niet bestaat of dat u niet bent gemachtigd om berichten te plaatsen",
    "Die Gruppe existiert möglicherweise nicht oder Sie sind nicht berechtigt, Nachrichten zu posten",
    "Die Adresse existiert nicht oder Sie dürfen nicht an sie schreiben",
    "L'adresse n'existe pas ou vous n'êtes pas autorisé à y écrire",
    "le groupe n'existe peut-être pas ou vous n'avez pas l'autorisation d'y publier des messages",
    "L'indirizzo non esiste o non sei autorizzato a scrivere",
    "il gruppo potrebbe non esistere o potresti non disporre dell'autorizzazione per pubblicare",
    "O endereço não existe ou você não tem permissão para enviar mensagens",
    "Adres nie istnieje lub nie masz uprawnień do wysyłania wiadomości",
    "Adresa neexistuje nebo nemáte oprávnění psát",
    "Adressen finns inte eller så har du inte behörighet att skriva till den",
    "Adressen findes ikke, eller du har ikke tilladelse til at skrive til den",
    "Osoitetta ei ole olemassa tai sinulla ei ole oikeutta kirjoittaa siihen",
    "A cím nem létezik, vagy nincs jogosultsága írni rá",
    "Adres mevcut değil veya yazma izniniz yok",
    "Adresa nu există sau nu aveți permisiunea de a scrie",
    "Адрес не существует или у вас нет разрешения писать на него",
    "グループが存在しないか、投稿する権限がない可能性があります",
    "该地址不存在，或者您没有权限",
    "그룹이 존재하지 않거나 메시지를 게시할 권한이 없습니다",
    "El destinatari no existeix o no tens permís per escriure-hi",
    "Grupa ne postoji ili nemate dopuštenje za objavljivanje",
    "Групата не съществува или нямате разрешение да публикувате",
    "Gavėjas neegzistuoja arba neturite leidimo jam rašyti",
    "Adresāts neeksistē vai jums nav atļaujas tam rakstīt",
    "Saaja ei eksisteeri või teil pole luba talle kirjutada",
    "Penerima tidak ada atau Anda tidak memiliki izin",
    "Người nhận không tồn tại hoặc bạn không có quyền gửi",
    "הנמען לא קיים או שאין לך הרשאה לכתוב אליו",
    "المستلم غير موجود أو ليس لديك إذن بالكتابة إليه",
    "ไม่พบผู้รับหรือคุณไม่มีสิทธิ์โพสต์",
  ])("%s", (words) => {
    for (const text of [words, `550 ${words}`, `550 5.1.1 ${words}`]) {
      expect(judge(text), text).toMatchObject({
        category: "Undetermined",
        bounceClass: "soft",
        suppress: false,
        isExplained: true,
      });
    }
  });

  test.each([
    "550 La page n'existe pas",
    "550 no existe",
    "550 bestaat niet",
    "550 Die Seite existiert nicht",
    "550 Il file non esiste",
    "550 Adresse IP inconnue",
    "550 Absenderadresse unbekannt",
    "550 La dirección del remitente no existe",
    "550 L'adresse de l'expéditeur n'existe pas",
  ])("something else that does not exist is not about a mailbox: %s", (text) => {
    expect(judge(text)).toMatchObject({ suppress: false });
  });

  test.each([
    "550 L'adresse joe n'existe pas",
    "550 Cet utilisateur n'existe plus",
    "550 No existe el usuario",
    "550 La cuenta de correo no existe",
    "550 Deze gebruiker bestaat niet",
    "550 Het e-mailadres bestaat niet",
    "550 Das Postfach existiert nicht",
    "550 Empfängeradresse existiert nicht",
    "550 La casella di posta non esiste",
    "550 O usuário não existe",
    "550 Użytkownik nie istnieje",
    "550 Skrzynka odbiorcy nie istnieje",
    "550 Brak takiego użytkownika",
    "550 Uživatel neexistuje",
    "550 Användaren finns inte",
    "550 Modtageren findes ikke",
    "550 Vastaanottajaa ei löydy: tuntematon vastaanottaja",
    "550 Пользователь не найден",
    "550 Нет такого пользователя",
    "550 Почтовый ящик не существует",
    "550 用户不存在",
    "550 收件人邮箱不存在",
    "550 宛先のメールアドレスが見つかりません",
    "550 존재하지 않는 사용자입니다",
    "550 Kullanıcı bulunamadı",
    "550 Fant ikke mottakeren",
    "550 Príjemca neexistuje",
    "550 Destinatarul nu există",
    "550 Căsuța poștală nu există",
    "550 Nincs ilyen felhasználó",
    "550 Nieprawidłowy odbiorca",
    "550 收件者不存在",
    "550 そのようなユーザーはいません",
    "550 RCPT address has non-existant user",
    "550 Nie znaleziono takiego użytkownika",
    "550 Modtageren kendes ikke",
    "550 Der Benutzer joe ist nicht im Domino-Verzeichnis aufgeführt",
    "550 Utilisateur joe non répertorié dans l'annuaire Domino",
    "550 L'usuari no existeix",
    "550 Korisnik ne postoji",
    "550 Получателят не съществува",
    "550 Gavėjas nerastas",
    "550 Adresāts nav atrasts",
    "550 Kasutajat ei leitud",
    "550 Pengguna tidak ditemukan",
    "550 Người nhận không tồn tại",
    "550 Ο χρήστης δεν υπάρχει",
    "550 Άγνωστος παραλήπτης",
    "550 המשתמש לא קיים",
    "550 المستخدم غير موجود",
    "550 گیرنده یافت نشد",
    "550 ไม่พบผู้ใช้",
    "550 joe wasn't found at example.com",
  ])("a mailbox that does not exist is hard: %s", (text) => {
    expect(judge(text)).toMatchObject({ category: "NoEmail", suppress: true });
  });

  test.each([
    "La boîte aux lettres n'est temporairement pas disponible, utilisateur inconnu",
    "Benutzer unbekannt (vorübergehend)",
    "Usuario desconocido, inténtelo más tarde",
    "User unknown, try again later",
    "Временно недоступен: пользователь не найден",
  ])("a temporary problem is soft: %s", (text) => {
    expect(judge(`550 ${text}`)).toMatchObject({ bounceClass: "soft", suppress: false });
  });
});

describe("a sender that does not exist is no fault of the recipient, in any language", () => {
  test.each([
    "550 Avsenderadressen finnes ikke",
    "550 Lähettäjän osoitetta ei ole olemassa",
    "550 Gönderen adresi bulunamadı",
    "550 Gönderici bilinmiyor",
    "550 Adresa expeditorului nu există",
    "550 A feladó címe nem létezik",
    "550 Adresa odesílatele neexistuje",
    "550 Adresa odosielateľa neexistuje",
    "550 Adres nadawcy nie istnieje",
    "550 Siuntėjo adresas nerastas",
    "550 Sūtītāja adrese nav atrasta",
    "550 Saatja aadressi ei leitud",
    "550 L'adreça del remitent no existeix",
    "550 Adresa pošiljatelja ne postoji",
    "550 Naslov pošiljatelja ne obstaja",
    "550 Адресът на подателя не съществува",
    "550 Адреса пошиљаоца не постоји",
    "550 Адрес отправителя не существует",
    "550 Домен отправителя не найден",
    "550 Адресу відправника не знайдено",
    "550 Alamat pengirim tidak ditemukan",
    "550 Pengguna pengirim tidak ditemukan",
    "550 Địa chỉ người gửi không tồn tại",
    "550 Η διεύθυνση του αποστολέα δεν υπάρχει",
    "550 כתובת השולח לא קיימת",
    "550 عنوان المرسل غير موجود",
    "550 آدرس فرستنده یافت نشد",
    "550 ไม่พบที่อยู่ผู้ส่ง",
    "550 प्रेषक का पता मौजूद नहीं",
    "550 送信者のメールアドレスが存在しません",
    "550 发件人地址不存在",
    "550 寄件者地址不存在",
    "550 보낸 사람 주소를 찾을 수 없습니다",
    "550 Adressen til avsenderen er ukjent",
    "550 Absenderadresse existiert nicht",
    "550 Die Absenderadresse ist ungültig",
    "550 Avsändaradressen finns inte",
    "550 Afsenderens adresse findes ikke",
    "550 L'indirizzo del mittente non esiste",
    "550 O endereço do remetente não existe",
    "550 Het adres van de afzender bestaat niet",
    "550 Ukjent avsender",
    "550 Nieznany nadawca",
    "550 Неизвестный отправитель",
  ])("%s", (text) => {
    for (const stage of ["rcpt", "report"] as const) {
      expect(judge(text, stage)).toMatchObject({ suppress: false });
      expect(judge(text, stage).bounceClass).not.toBe("hard");
    }
  });

  test.each([
    "Absender: news@sender.example, Empfänger: joe@example.com existiert nicht",
    "Отправитель: news@sender.example. Получатель не найден",
    "Nadawca: news@sender.example; odbiorca nie istnieje",
    "送信者: news@sender.example 宛先: ユーザーが存在しません",
  ])("a sentence about the recipient that also names the sender is about the recipient: %s", (text) => {
    expect(judge(`550 ${text}`)).toMatchObject({ category: "NoEmail", suppress: true });
  });
});

describe("a host that cannot be reached is not about reputation or rate", () => {
  test.each([
    "4.4.1 connect to mx.example.com[192.0.2.7]:25: Connection refused",
    "connect to mx.example.com[192.0.2.7]:25: Connection timed out",
    "connect to mx.example.com[2001:db8::7]:25: No route to host",
    "connect to mx.example.com[192.0.2.7]:25: Network is unreachable",
    "delivery temporarily suspended: connect to mx.example.com[192.0.2.7]:25: Connection refused",
    "lost connection with mx.example.com[192.0.2.7] while receiving the initial server greeting",
    "conversation with mx.example.com[192.0.2.7] timed out while sending RCPT TO",
    "5.4.1 Connection refused",
    "Connection refused",
    "Deferred: Connection refused by mx.example.com.",
    "Connection reset by peer",
    "Deferred: Connection reset by mx.example.com.",
    "Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)",
    "Connected to 192.0.2.7 but connection died. (#4.4.2)",
    "Server nicht erreichbar",
    "Connexion impossible au serveur distant",
    "No se pudo conectar con el servidor",
    "Impossibile connettersi al server",
    "Não foi possível conectar ao servidor",
    "Не удалось соединиться с сервером",
    "无法连接到收件人服务器",
    "サーバーに接続できませんでした",
    "서버에 연결할 수 없습니다",
    "The recipient server did not accept our requests to connect. [mx.example.com 192.0.2.7: timed out]",
    "450 4.4.316 Connection refused [Message=Socket error code 10061]",
    '441 4.4.1 Error encountered while communicating with primary target IP address: "Failed to connect. Winsock error code: 10061"',
    "4.4.1 unable to connect to remote host",
    "403 4.7.0 TLS handshake failed.",
    "Cannot start TLS: handshake failure",
    "TLS is required, but was not offered by host mx.example.com[192.0.2.7]",
    "SSL_connect error to mx.example.com[192.0.2.7]:25: Connection reset by peer",
    "4.7.5 Server certificate not trusted",
    "Network error on destination MXs",
    "host mx.example.com[192.0.2.7] refused to talk to me: 421 4.3.2 Service shutting down",
    "Connexion refusée",
    "Verbindung zum Server abgelehnt",
  ])("%s", (text) => {
    expect(judge(text)).toMatchObject({
      category: "General",
      bounceClass: "soft",
      suppress: false,
      scope: "recipient",
    });
  });

  test.each([
    "550 #5.7.1 connection refused due to abuse",
    "554 5.7.1 Connection refused. Your IP is on our block list",
    "421 4.7.1 Connection refused by policy",
    "554 5.7.1 Connection refused",
  ])("a server that refuses our connections is: %s", (text) => {
    expect(judge(text)).toMatchObject({ bounceClass: "block", suppress: false });
  });
});

describe("a limit on the content of a message is about content, and slows no lane", () => {
  test.each([
    "554 too many links",
    "554 5.7.1 Too many URLs in the message",
    "550 Too many hyperlinks in message body",
    "554 Too many recipients in header",
    "550 5.7.1 Too many recipients in the To: header",
    "550 too many addresses in the Cc header",
    "554 5.6.0 Too many MIME parts",
    "550 too many attachments",
    "554 MIME nesting too deep",
    "550 Maximum MIME depth exceeded",
    "554 5.6.0 Message has too many nested levels",
    "550 Message has lines too long for transport",
    "550 5.6.0 Line too long in header",
    "550 maximum allowed line length is 998 octets, got 1200",
    "554 Lines longer than 990 characters found",
    "552 5.6.0 Headers too large (32768 max)",
    "550 Excessive number of links in the message",
    "550 Exceeded maximum number of URLs",
    "550 message contains too many images",
    "550 Number of attachments exceeds the limit",
    "554 too many header lines",
    "550 attachment size limit exceeded",
    "552 Message size exceeds fixed limit",
    "550 too many exclamation marks in subject",
    "550 Trop de liens dans le message",
    "550 demasiados enlaces",
    "550 Zbyt wiele odnośników",
    "550 リンクが多すぎます",
    "550 邮件中链接过多",
    "550 링크가 너무 많습니다",
  ])("%s", (text) => {
    for (const stage of ["dot", "report"] as const) {
      expect(judge(text, stage)).toMatchObject({ bounceClass: "block", suppress: false, scope: "recipient" });
      expect(judge(text, stage).category).toMatch(/^(?:ContentRejected|AttachmentRejected|MessageTooLarge)$/);
    }
  });

  test.each([
    "421 Too many connections",
    "421 4.7.0 Too many messages from your IP",
    "450 too many errors",
    "550 Too many invalid recipients",
    "452 4.5.3 Too many recipients",
    "550 Exceeded maximum number of messages per hour",
    "421 Trop de connexions, veuillez vérifier votre configuration",
    "451 4.7.1 Sie senden zu schnell",
    "450 Troppi messaggi inviati",
    "450 Demasiado rápido",
    "550 5.7.1 Invalid recipients exceeded limit",
    "550 maximum number of invalid recipients exceeded",
    "550 Directory harvest attack detected; unknown users",
  ])("a limit on the number of messages is about rate: %s", (text) => {
    expect(judge(text).category).toBe("RateLimited");
  });
});

describe("a domain that does not exist is a hard failure in a bounce", () => {
  test.each([
    "5.4.4 Host or domain name not found. Name service error for name=example.invalid type=AAAA: Host not found",
    "5.4.4 Name service error for name=example.invalid type=MX: Host found but no data record of requested type",
    "Domain does not exist",
    "5.1.2 The domain example.invalid does not exist",
    "Unrouteable mail domain",
    "Sorry, I couldn't find any host named example.invalid. (#5.1.2)",
    "Sorry, I couldn't find a mail exchanger or IP address. (#5.4.4)",
    "550 Host unknown (Name server: example.invalid: host not found)",
    "DNS Error: DNS type 'mx' lookup of example.invalid responded with code NXDOMAIN Domain name not found: example.invalid",
    "Your message wasn't delivered because the domain example.invalid couldn't be found.",
    "550 5.4.310 DNS domain example.invalid does not exist [Message=InfoDomainNonexistent]",
    "554 5.4.4 SMTPSEND.DNS.NonExistentDomain; nonexistent domain",
    "No MX or A records for example.invalid",
    "unable to look up host: Name or service not known",
    "5.1.0 Domain example.invalid does not accept mail (nullMX)",
    "556 Domain does not accept mail",
    "No such domain",
    "Domain example.invalid has no MX and no A record",
    "El dominio no ha sido encontrado",
    "Die Domain existiert nicht",
    "Le domaine n'existe pas",
    "El dominio no existe",
    "Il dominio non esiste",
    "O domínio não existe",
    "Het domein bestaat niet",
    "Domena nie istnieje",
    "Домен не существует",
    "域名不存在",
    "Domænet findes ikke",
    "Domänen finns inte",
    "an MX or SRV record indicated no SMTP service",
    "The domain example.invalid has no mail servers",
    // In Google's form.
    "4.0.0 DNS Error: DNS type 'mx' lookup of example.invalid responded with code NXDOMAIN Domain name not found: example.invalid",
  ])("%s", (text) => {
    expect(judge(text)).toMatchObject({ category: "NoEmail", bounceClass: "hard", suppress: true });
  });

  test.each([
    "4.4.3 Host or domain name not found. Name service error for name=example.com type=MX: Host not found, try again",
    "5.4.4 Host or domain name not found. Name service error for name=example.com type=MX: Host not found, try again",
    "DNS Error: DNS type 'mx' lookup of example.com responded with code SERVFAIL",
    "Host not found, try again",
    "Resolver timed out: domain not found",
    "host lookup for example.com failed temporarily",
    "Temporary failure in name resolution",
    "CNAME lookup failed temporarily. (#4.4.3)",
    "4.4.4 Host not found",
    "450 4.1.2 Recipient address rejected: Domain not found",
    "450 4.0.0 NXDOMAIN",
    "4.4.4 NXDOMAIN",
    "4.0.0 Host not found",
    "5.4.4 Unable to route",
    "5.4.312 DNS query failed",
    "554 5.7.1 Domain not found",
    "550 Sender domain does not exist",
    "553 5.1.8 Domain of sender address news@example.com does not exist",
    "550 Your domain does not exist",
    "550 Helo command rejected: Host not found",
    "550 host mx.example.com[192.0.2.7] said: 550 unknown error",
    "550 Remote host unknown error",
    "550 This host does not accept mail over clear text",
  ])("but not if the name server failed or another domain is meant: %s", (text) => {
    expect(judge(text)).toMatchObject({ suppress: false });
  });
});
