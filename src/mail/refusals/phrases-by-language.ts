/**
 * Phrases of receivers in other languages than English, for text without accents. Data for reply-rules.ts, which
 * defines the order in which they are tried.
 */

/** Nouns for the recipient in all supported languages, compounds included. */
const MAILBOX =
  "(?:(?!absender|afzender|avsandar|avsender|afsender|ip|domain|contac|contai)\\w*(?:utilisateur|destinataire|adresse|compte|boite|messagerie|empfaenger|empfanger|adressat|benutzer|nutzer|teilnehmer|postfach|mailbox|konto|usuario|destinatar|direccion|cuenta|buzon|casilla|correo|utente|indirizzo|casella|utilizador|conta|endereco|caixa|gebruiker|ontvanger|geadresseerde|adres|postvak|account|uzytkownik|odbiorc|skrzynk|uzivatel|prijemc|schrank|adresat|mottagar|anvandar|brevlad|modtager|bruger|postkass|mottaker|bruker|vastaanottaja|kayttaja|osoite|postilaatik|cimzett|felhasznalo|postafiok|alici|kullanici|posta kutusu|utilizator|cutia|casuta|abonne|address|email|user|recipient|pengguna|penerima|nguoi dung|nguoi nhan|gavej|vartotoj|adresats|lietotaj|kasutaja|saaja|notandi|vidtakand|korisni|primatelj|primalac|uporabnik|prejemnik|naslovnik|usuari)\\w*|(?:пользовател|получател|адрес|ящик|абонент|користувач|одержувач|отримувач|скриньк|потребител|кутия|корисник|прималац)[\\p{L}]*)";
/** The sender's address or host, as opposed to the recipient's. */
const SENDER =
  "(?:expediteur\\w*|expeditor\\w*|absender\\w*|remitent\\w*|mittent\\w*|remetent\\w*|afzender\\w*|nadawc\\w*|odesilatel\\w*|odosielatel\\w*|avsandar\\w*|avsender\\w*|afsender\\w*|lahettaj\\w*|gonder(?:en|ici)\\w*|felado\\w*|siuntej\\w*|sutitaj\\w*|saatja\\w*|posilja\\w*|sendand\\w*|pengirim\\w*|nguoi gui|(?:отправител|відправник|подател|пошиља|испраќач|αποστολε)\\p{L}{0,8}|שולח|المرسل(?! إليه)|فرستنده|ผู้ส่ง|प्रेषक|发件人|發件人|寄件人|寄件者|送信者|送信元|発信者|差出人|보낸 ?사람|발신자|발신인)";
/** "Does not exist". */
const ABSENT =
  "(?:n'existe (?:pas|plus)|n'existent pas|no existen?|nao existem?|non esiste|non esistente|existiert(?: leider)? nicht|nicht existiert|gibt es nicht|bestaat niet|niet bestaat|nie istnieje|nie zostal\\w* znalezion\\w*|nie znaleziono|neexistuje|finns (?:inte|ej)|finnes inte|findes ikke|kendes ikke|kjennes ikke|eksisterer ikke|finnes ikke|ei ole olemassa|ei loydy|nem letezik|mevcut degil|bulunamadi|nu exista|tidak (?:ada|ditemukan|terdaftar|dikenal)|khong ton tai|neegzistuoja|nerastas?|neeksiste|nav atrasts?|ei eksisteeri|ei leitud|er ekki til|ne postoji|nije pronaden\\w*|ne obstaja|ni najden\\w*|no existeix|no s'ha trobat|не постои|не съществува|не е намерен\\p{L}*|не постоји|не существует|не найден[\\p{L}]*|не обнаружен[\\p{L}]*|не зарегистрирован[\\p{L}]*|не існує|не знайдено)";
/** "Unknown", "invalid" and similar adjectives. */
const UNKNOWN =
  "(?:inconnue?s?|invalides?|inexistante?s?|introuvables?|non trouvee?|unbekannt|ungultig|nicht (?:vorhanden|gefunden|bekannt)|desconocid[oa]|inexistente|invalid[oa]|no (?:(?:ha sido |fue |ha podido ser )?encontrad[oa]|se encuentra|se ha encontrado|es valid[oa])|inesistente|sconosciut[oa]|errat[oa]|non (?:trovat[oa]|valid[oa])|desconhecid[oa]|nao (?:encontrad[oa]|localizad[oa]|cadastrad[oa])|onbekend|niet gevonden|ongeldig|nieznan[yae]|nie (?:znaleziono|zostal\\w* znalezion\\w*)|neznam\\w*|nenalezen\\w*|okand|hittades inte|ukendt|ukjent|tuntematon|ismeretlen|bilinmiyor|gecersiz|necunoscut|inexistent|nieprawidlow\\w*|неизвест[\\p{L}]*|невідом[\\p{L}]*)";
/** "Does not exist" and "unknown" in scripts that have patterns of their own below. */
const ABSENT_ELSEWHERE =
  "(?:δεν (?:υπαρχει|βρεθηκε)|αγνωστ\\p{L}*|ανυπαρκτ\\p{L}*|(?:לא|אינו|אינה|איננו) (?:קיים|קיימת|נמצא|נמצאה|ידוע|ידועה|מוכר|מוכרת)|غير (?:موجود|معروف)\\p{L}*|لا يوجد|یافت نشد|وجود ندارد|ناشناخته|ไม่มี|ไม่พบ|ไม่รู้จัก|मौजूद नहीं|नहीं मिला|अज्ञात|不存在|未找到|无效|無效|找不到|存在し(?:ません|ない)|見つかりません|不明|無効|존재하지|찾을 수 없)";
/** Words that may come between the two; no other noun that may be missing. */
const BETWEEN =
  "(?:,? (?!ip|expedit|absend|remit|mitt|remet|afzend|nadaw|отправ|dom[aei]|host|server|serv[eio]d?or|page|pagina|seite|file|datei)[^\\s.!?]+)";

/** The recipient's address does not exist. */
export const UNKNOWN_ADDRESS: readonly RegExp[] = [
  new RegExp(`${MAILBOX}${BETWEEN}{0,6}:?,? ${ABSENT}`, "u"),
  new RegExp(`${ABSENT}${BETWEEN}{0,3} ${MAILBOX}`, "u"),
  new RegExp(`${MAILBOX}${BETWEEN}{0,5}:? ${UNKNOWN}`, "u"),
  // Greek, Hebrew, Arabic, Persian, Thai, Hindi.
  /(?:χρηστη|παραληπτη|διευθυνση|λογαριασμο|γραμματοκιβωτιο)\p{L}*(?: \S+){0,3} (?:δεν (?:υπαρχει|βρεθηκε)|αγνωστ\p{L}*|ανυπαρκτ\p{L}*)|(?:δεν (?:υπαρχει|βρεθηκε)|αγνωστ\p{L}*|ανυπαρκτ\p{L}*)(?: \S+){0,2} (?:χρηστη|παραληπτη|διευθυνση|λογαριασμο|γραμματοκιβωτιο)\p{L}*/u,
  /ה?(?:משתמש|נמען|כתובת|תיבה|חשבון)(?: \S+){0,3} (?:(?:לא|אינו|אינה|איננו) (?:קיים|קיימת|נמצא|נמצאה|ידוע|ידועה|מוכר|מוכרת))/u,
  /(?:المستخدم|المستلم|العنوان|عنوان|الحساب|صندوق)(?: \S+){0,3} (?:غير (?:موجود|معروف)\p{L}*|لا يوجد)|(?:گیرنده|کاربر|آدرس|نشانی|صندوق)(?: \S+){0,3} (?:یافت نشد|وجود ندارد|ناشناخته)/u,
  /(?:ไม่พบ|ไม่มี|ไม่รู้จัก)(?:ชื่อ)?(?:ผู้ใช้|ผู้รับ|ที่อยู่|บัญชี|กล่อง|อีเมล)|(?:ผู้ใช้|ผู้รับ|ที่อยู่|บัญชี|กล่อง|อีเมล)[^ ]{0,20} ?(?:ไม่มีอยู่|ไม่พบ|ไม่ถูกต้อง)|(?:उपयोगकर्ता|प्राप्तकर्ता|पता|खाता)(?: \S+){0,3} (?:मौजूद नहीं|नहीं मिला|अज्ञात)/u,
  // "Not listed in the Domino Directory", as Domino writes it in each language.
  /(?:nicht|non|no|nao|niet|nie|inte|ikke|не)(?: \S+){0,5} (?:domino\S*|(?:l')?annuaire|directorio|diretorio|verzeichnis)/u,
  /(?:fant|finner|fandt|finder|hittar|hittade) (?:ikke|inte|ej) (?:mottak|mottag|modtag|bruker|bruger|anvandar|adress|postkass|brevlad)\w*|nincs ilyen (?:felhasznalo|cimzett|cim|postafiok|fiok)\w*|nieprawidlowy (?:odbiorca|adres|adresat)|invalide? (?:destinataire|adresse)|onbekend(?:e)? (?:adres|postvak)/,
  /unbekannter? (?:empfaenger|empfanger|benutzer|nutzer|adressat)|onbekende? (?:gebruiker|ontvanger)|nieznany (?:uzytkownik|odbiorca|adres)/,
  /nie ma takiego|brak (?:takiego )?(?:uzytkownika|konta|adresu|odbiorcy)|(?:neznamy|neplatny) (?:uzivatel|prijemce)|okand (?:mottagare|anvandare)|ukendt (?:modtager|bruger)|ukjent (?:mottaker|bruker)|tuntematon (?:vastaanottaja|kayttaja)|ismeretlen (?:cimzett|felhasznalo)|gecersiz alici/,
  /(?:usuario|destinatario|utente) (?:non )?(?:desconocido|sconosciuto|inexistente)|utilisateur inconnu|destinataire inconnu/,
  /нет так(?:ого|ой) (?:пользовател|почтов|адрес|ящик|получател)\p{L}*|неизвестный (?:пользователь|получатель|адрес)|такого (?:пользователя|адреса|ящика) нет/u,
  /(?:用户|用戶|使用者|收件人|收件者|邮箱|郵箱|信箱|账号|帐号|帳號|地址|邮件地址)[^。.]{0,8}(?:不存在|未找到|无效|無效|不正确|找不到)|(?:没有|沒有|无|無)(?:此|该|這個|这个)?(?:用户|用戶|收件人|邮箱|信箱)|不存在的?(?:用户|用戶|收件人|邮箱|信箱|地址)/u,
  /(?:宛先|宛て先|受信者|ユーザー?|メールアドレス|アドレス|メールボックス|アカウント)[^。.]{0,16}(?:不明|存在しません|存在しない|見つかりません|ありません|いません|無効)|存在しない(?:宛先|ユーザー?|メールアドレス|アドレス)|宛先不明/u,
  /(?:사용자|수신자|수신인|받는 ?사람|메일 ?주소|주소|계정|메일함)[^.]{0,12}(?:존재하지|없습니다|없는|찾을 수 없)|(?:존재하지 않는|없는) (?:사용자|수신자|메일|주소|계정|아이디)/u,
];

/** The recipient's mailbox was closed. */
export const CLOSED_MAILBOX: readonly RegExp[] = [
  /(?:usuario|cuenta|conta|casilla|konto)(?: \S+){0,6} (?:inactiv[oa]|inativ[oa]|expirad[oa]|nieaktywne|desactivad[oa]|desativad[oa]|cancelad[oa])/,
  /(?:compte|boite|adresse)(?: \S+){0,5} (?:desactivee?|fermee?|supprimee?|resiliee?)|(?:konto|postfach|benutzer)(?: \S+){0,4} (?:deaktiviert|geloscht|stillgelegt)/,
  /(?:account|casella|utente)(?: \S+){0,4} (?:disattivat[oa]|disabilitat[oa])|(?:пользователь|ящик|аккаунт)(?: \S+){0,4} (?:отключен|деактивирован|удален)\p{L}*/u,
];

/** The recipient's mailbox is full. */
export const FULL_MAILBOX: readonly RegExp[] = [
  /(?:boite|messagerie)(?: \S+){0,6} (?:est )?(?:pleine|saturee)|quota(?: \S+){0,3} (?:depassee?|atteint)/,
  /postfach(?: \S+){0,3} (?:voll|uberfullt|ueberfuellt)|speicher\w*(?: \S+){0,2} u(?:e)?berschritten|(?:quota|kontingent)(?: \S+){0,2} u(?:e)?berschritten|(?:mailbox|postvak|postbus|inbox)(?: \S+){0,6} vol/,
  /(?:buzon|casilla|bandeja)(?: \S+){0,4} llen[oa]|cuota(?: \S+){0,3} (?:excedida|superada|sobrepasada)/,
  /casella(?: \S+){0,4} piena|quota(?: \S+){0,2} (?:superata|esaurita)|caixa(?: \S+){0,6} (?:cheia|lotada)|(?:cota|quota)(?: \S+){0,3} (?:excedida|ultrapassada)/,
  /skrzynka(?: \S+){0,4} (?:pelna|przepelniona)|schranka(?: \S+){0,4} (?:plna|preplnena)|(?:brevlada|inkorg|postkasse|postboks|innboks|indbakke)\w*(?: \S+){0,3} (?:fulla?|fuld)|postilaatik\w*(?: \S+){0,3} taynna|(?:cutia|casuta)(?: \S+){0,4} plina|(?:bustia|safata)(?: \S+){0,4} plena|(?:postkast|poststiliab|postiljee)\w*(?: \S+){0,3} tais|(?:dezut|pasto deze)\w*(?: \S+){0,3} pilna|(?:kaste|pastkaste|pastkastite)\w*(?: \S+){0,3} (?:pilna|pilns)|(?:sanducic|nabiralnik|postansk)\w*(?: \S+){0,3} (?:pun|poln)\w?|(?:kotak (?:surat|masuk)|inbox)(?: \S+){0,3} penuh|(?:hop thu|thu muc)(?: \S+){0,4} (?:da )?day|megtelt|posta kutusu(?: \S+){0,2} dolu|kota(?:si|yi)? \w*(?:dolu|asil|asti)\w*/,
  /(?:γραμματοκιβωτιο|θυριδα)(?: \S+){0,4} (?:πληρες|γεματ\p{L}*|πληρης)|תיבת (?:ה?דואר|ה?מכתבים)(?: \S+){0,3} מלאה|صندوق(?: \S+){0,4} ممتلئ\p{L}*|صندوق(?: \S+){0,3} پر|(?:กล่อง(?:จดหมาย|ข้อความ)|พื้นที่)[^ ]{0,20} ?เต็ม|मेलबॉक्स(?: \S+){0,3} (?:भरा|भर)/u,
  /переполнен\p{L}*|(?:кутия|сандуче|скринька|ящик)\p{L}*(?: \S+){0,3} (?:пълна|пуна?|повна|повний|полон)|препълнен\p{L}*|переповнен\p{L}*|(?:превышен|перевищен)\p{L}*(?: \S+){0,3} (?:квот|объем|обем)\p{L}*/u,
  /(?:邮箱|郵箱|信箱)[^。.]{0,6}(?:已满|已滿|满|滿)|(?:空间|空間|容量)[^。.]{0,4}(?:不足|已满|已滿)/u,
  /容量[^。.]{0,10}(?:超|不足|いっぱい)|メールボックス[^。.]{0,10}(?:いっぱい|満杯)|(?:용량|메일함)[^.]{0,12}(?:초과|가득|부족)/u,
];

/** The failure is temporary; nothing is said about the address. */
export const TEMPORARY_FAILURE: readonly RegExp[] = [
  /temporairement|temporaire|momentanement|vorubergehend\w*|voruebergehend\w*|temporar\w*|zeitweilig|temporalmente|temporaneamente|temporane[oa]|temporariamente|tijdelijk\w*|tymczasow\w*|docasn\w*|tillfallig\w*|midlertidig\w*|valiaikai\w*|ideiglenes\w*|atmenetileg|gecici\w*/,
  /(?:reessaye[rz]|essayer)(?: \S+){0,2} plus tard|spater (?:erneut|noch ?mal|wieder)|mas tarde|piu tardi|mais tarde|probeer het later|sprobuj(?: \S+){0,2} pozniej/,
  /временно\p{L}*|временн\p{L}+ (?:ошибк|недоступ)\p{L}*|тимчасов\p{L}*|попробуйте позже|一時的|しばらく|暂时|暫時|稍后|稍後|일시적|나중에/u,
];

/** Words of one sentence that do not mention the recipient. */
const WITHOUT_RECIPIENT =
  "(?:(?!empf|destinat|ontvang|geadres|odbiorc|prijemc|mottag|mottak|modtag|vastaanott|cimzett|alici|gavej|adresat|saaja\\b|primatel|primalac|prejemn|penerima|nguoi nhan|получател|адресат|одержувач|отримувач|прималац|παραληπτ|נמען|مستلم|گیرنده|ผู้รับ|प्राप्तकर्ता|宛|受信|收件|받는|수신)[^.!?;。！？；])";
const ABSENT_ANYWHERE = withShortEndings(`(?:${ABSENT}|${UNKNOWN}|${ABSENT_ELSEWHERE})`);

/** The sender does not exist, or is refused. */
export const SENDER_FAULT = new RegExp(
  `${SENDER}${WITHOUT_RECIPIENT}{0,40}(?:${ABSENT_ANYWHERE}|abgelehnt|gesperrt|refusee?|rejetee?|rechazad[oa]|bloquead[oa]|rifiutat[oa]|rejeitad[oa]|geweigerd|odrzucon\\w*|заблокирован\\p{L}*|отклонен\\p{L}*|被拒绝)|${ABSENT_ANYWHERE}(?:(?!,)${WITHOUT_RECIPIENT}){0,24}${SENDER}`,
  "u",
);

/** Our IP address is on a block list or refused. */
export const BLOCKED_SENDER: readonly RegExp[] = [
  /liste noire|listes? noires|(?:schwarze[nr]?|sperr|black) ?-?liste|lista (?:negra|nera|bloqueos?)|lista de bloqueios?|czarn\w+ list\w*|zwarte lijst|svartlist\w*|cerne listine|kara liste\w*/,
  /(?:adresse ip|ip-?adresse|direccion ip|indirizzo ip|endereco ip|adres ip|ip-?adres|ip)(?: \S+){0,5} (?:bloque\w*|bloqu\w*|refusee?|rejetee?|gesperrt|blockiert|abgelehnt|gelistet|bloquead\w*|rechazad\w*|bloccat\w*|rifiutat\w*|rejeitad\w*|geblokkeerd|geweigerd|zablokowan\w*|odrzucon\w*)/,
  /(?:votre|ihre?|tu|su|il (?:tuo|vostro|suo)|seu|uw|jouw|twoj|panstwa) (?:adresse ip|serveur|ip(?:-?\w+)?|server|mailserver|direccion ip|servidor|indirizzo ip|endereco ip|adres ip|serwer)/,
  /чёрн\p{L}* спис\p{L}*|черн\p{L}* спис\p{L}*|(?:ip-?адрес|ваш(?:его)? (?:ip|адрес|сервер))(?: \S+){0,5} (?:заблокирован|отклонен|внесен)\p{L}*/u,
  /黑名单|黑名單|信誉|信譽|ブラックリスト|블랙리스트|(?:ip|IP)[^。.]{0,12}(?:被拒绝|被屏蔽|拒否|차단)/u,
];

/** The content of the message is refused. */
export const UNWANTED_CONTENT: readonly RegExp[] = [
  /pourriels?|(?:courriers?|messages?) indesirables?|(?:correo|mensaje) (?:no deseado|basura)|no solicitad[oa]|posta indesiderata|indesiderat[oa]|lixo eletronico|nao solicitad[oa]|unerwunscht\w*|ongewenste?|niechcian\w+|nevyzadan\w+|skrappost|soppelpost|roskaposti\w*|istenmeyen/,
  /(?:trop d[e']|demasiad[oa]s|zu viele|tropp[ie]|muit[oa]s|te veel|zbyt (?:wiele|duzo)) ?(?:odnosnikow|hiperlaczy|liens|pieces jointes|enlaces|adjuntos|archivos adjuntos|links|anhange|link|allegati|anexos|bijlagen|linkow|zalacznikow)|слишком много (?:ссылок|вложений)|(?:链接|連結|附件)[^。.]{0,6}(?:过多|過多|太多)|(?:リンク|添付ファイル)[^。.]{0,6}多すぎ|(?:링크|첨부)[^.]{0,8}너무 많/u,
  /(?:inhalt|nachricht|contenu|message|contenido|mensaje|contenuto|messaggio|conteudo|mensagem|inhoud|bericht|tresc|wiadomosc|obsah|zprava|сообщени\p{L}*|письмо|содержим\p{L}*)(?: [^\s.:;,]+){0,4} (?:abgelehnt|zuruckgewiesen|refusee?|rejetee?|rechazad[oa]|rifiutat[oa]|respint[oa]|rejeitad[oa]|recusad[oa]|geweigerd|afgewezen|odrzucon\w*|odmitnut\w*|отклонен\p{L}*)/u,
  /спам\p{L}*|垃圾(?:邮件|郵件|信)|迷惑メール|スパム|스팸|광고성/u,
];

/** A refusal without a reason. */
export const REFUSED: readonly RegExp[] = [
  /interdit\w*|non autorisee?|bloque(?:e|s|es)?|gesperrt|verweigert|nicht (?:erlaubt|zugelassen|berechtigt|gestattet)|bloquead[oa]|denegad[oa]|prohibid[oa]|no (?:permitid|autorizad)[oa]|bloccat[oa]|negato|non (?:autorizzat|consentit|permess)[oa]|negad[oa]|nao (?:autorizad|permitid)[oa]|geweigerd|geblokkeerd|niet toegestaan|zablokowan\w+|zabronion\w+|odmowa|politique|richtlinie\w*|politica|beleid|polityk\w+/,
  /заблокирован\p{L}*|запрещен\p{L}*|拒绝|拒絕|拒否|차단|거부/u,
];

/** The domain does not exist. */
export const NO_DOMAIN: readonly RegExp[] = [
  new RegExp(
    `(?:domain(?!s)\\w{0,6}|domaine|dominio|domein\\w{0,5}|dom(?:en|an|aen)\\w{0,3}|hote|rechner|anfitrion|host)(?: \\S+){0,5} ${ABSENT}`,
    "u",
  ),
  new RegExp(`${ABSENT}(?: \\S+){0,2} (?:domain|domaine|dominio|domein|domen)`, "u"),
  /(?:domain\w{0,6}|domaine|dominio|domein|hote|rechner|host)(?: \S+){0,4} (?:inconnu|introuvable|unbekannt|nicht (?:gefunden|bekannt)|desconocid[oa]|no (?:ha sido |fue |se ha )?encontrad[oa]|inesistente|inexistente|sconosciuto|non trovato|desconhecido|nao encontrado|onbekend|niet gevonden)/,
  /домен\p{L}*(?: \S+){0,3} (?:не (?:существует|найден|зарегистрирован)|не існує|неизвест\p{L}*)|域名(?:不存在|无效)|ドメイン[^。]{0,10}(?:存在しません|見つかりません)|도메인[^.]{0,8}(?:존재하지|찾을 수 없)/u,
];

/** Limits word endings to 12 letters: an unlimited ending would read a long run of letters many times. */
export function withShortEndings(source: string): string {
  return source.replaceAll(/(?:\[\\p\{L\}\]|\\p\{L\})\*/g, "\\p{L}{0,12}");
}
