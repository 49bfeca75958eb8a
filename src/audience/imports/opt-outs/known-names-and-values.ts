/**
 * The words by which other programs and people say that an address gets no mail: names of columns, and values. This is
 * data; find-columns.ts uses it. Words are in lower case, without accents.
 */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";

/**
 * The words of a text in lower case, without accents; "HasOptedOut", "opt-out" and "OPT_OUT" are split alike. The
 * voicing marks of Japanese are kept, because they make other letters.
 */
export function foldedWords(text: string): string[] {
  return (
    text
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
      .normalize("NFKD")
      .replaceAll(/(?![\u3099\u309a])\p{M}/gu, "")
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

export const wordKey = (text: string) => foldedWords(text).join("");

const keys = (text: string) => new Set(text.trim().split(/\s+/).map(wordKey));

/** Words that show that a column is about mail. */
const mailWords = `
  email emails mail mails newsletter newsletters marketing contact campaigns werbung publicidad publicite pubblicita
  nieuwsbrief nyhetsbrev nyhedsbrev correo correos boletin рассылка рассылки рассылку メール メルマガ 邮件 이메일`;
export const channels = keys(mailWords);

/** Words of a column's name that do not change its meaning. */
export const fillerWords = new Set([
  ...channels,
  ...keys(`
  is has have had was are of from to the this all any in e contacts subscriber customer user person member recipient
  global globally list lists bulk address addresses adresse by via confirmed y n yn pardot
  aus von vom dem der des du de la le les del dal della van uit voor z od ot
  deliverability validity validation verification`),
]);

/** Words that make a name that of a time. */
export const moments = keys(`
  at on date time datetime timestamp day since when am datum zeitpunkt fecha data dato kiedy дата datuma tarihi dag op il
  日 日時 日付 时间 時間 日期 날짜`);
/** Endings with the same meaning, in words written as one. */
export const momentEndings = /(?:datum|date|timestamp|time|at|on|日時|日付|日期|时间|時間|日|일시|일자|일)$/u;

/** Words that make a name that of something other than a yes or no. */
export const other = keys(`
  reason reasons campaign ip id link url count number source page method title token comment note notes type subtype nl
  grund raison motivo reden powod причина sms phone mobile whatsapp push call calls fax faxes post postal track tracking
  cookie cookies message score rate soft plan price level tier renewal amount fee photo photos foto fotos video medical
  parental cause mode`);

/**
 * Names without fillers and words for times: Mailchimp (UNSUB_TIME), Brevo (EMAIL_BLACKLISTED), HubSpot ("Unsubscribed
 * from all email"), Mailjet (IsUnsubscribed, IsExcludedFromCampaigns), MailUp (OptOut_Date), Salesforce
 * (HasOptedOutOfEmail), Sailthru (optout_email), CleverReach (deactivated), Dynamics ("Do not allow Emails"), Klaviyo
 * ("Email Suppressions"), and names that people write.
 */
export const meanings: readonly (readonly [SubscriberStatus, ReadonlySet<string>])[] = [
  [
    "unsubscribed",
    keys(`
      unsubscribed unsubscribe unsub unsubs unsubscription unsubscriptions optout optedout optouts donot dont donotemail
      donotmail donotcontact donotsend dontsend dontcontact donotallow donotbulkemail dnc dnm blacklisted blacklist blackliste
      blocklisted blocklist blocked suppressed suppression suppressions excluded exclude excludedfrom deactivated revoked
      withdrawn
      abgemeldet abmeldung abmelde austragung ausgetragen abbestellt deaktiviert gesperrt blockiert werbesperre keinewerbung
      nichtkontaktieren nichtanschreiben robinsonliste widerrufen widersprochen
      desinscrit desinscrits desinscription desabonne desabonnement listenoire nepascontacter nepasenvoyer bloque
      baja bajas dadobaja suscripcioncancelada desuscrito desuscrita listanegra noenviar nocontactar excluido bloqueado
      disiscritto disiscritta disiscrizione listanera bloccato
      afgemeld uitgeschreven afmelding geblokkeerd wypisany wypisana wypisano wypis rezygnacja zablokowany czarnalista
      отписан отписана отписался отписалась отписка отписки заблокирован неотправлять черныйсписок
      descadastrado descadastro cancelouinscricao naoenviar avregistrerad avprenumererad avanmald blockerad frameldt afmeldt
      avmeldt blokeret peruutettu peruttu odhlasen odhlaseny zablokovan
      leiratkozott leiratkozas dezabonat odjavljen abonelikiptal aboneliktencıktı aboneliktenayrıldı
      配信停止 配信不可 配信拒否 受信拒否 購読解除 退会 退订 已退订 取消订阅 黑名单 拒收 退訂 已退訂 取消訂閱 黑名單
      수신거부 구독해지 구독취소 수신차단`),
  ],
  [
    "bounced",
    keys(`
      bounced bounce hardbounced hardbounce bouncedhard cleaned undeliverable unzustellbar gebounced rebote rebotado
      rebond rimbalzato invalidemail emailinvalid npai`),
  ],
  [
    "complained",
    keys(
      "complained complaint complaints spam spamcomplaint spamreport spamcomplaining markedasspam reportedspam abuse abused junk",
    ),
  ],
  [
    "active",
    keys(`
      subscribed subscribe optin optedin doi doubleoptin wantsmail
      angemeldet abonniert inscrit inscrite abonne abonnee suscrito suscrita iscritto iscritta aangemeld ingeschreven zapisany
      zapisana подписан подписана inscrito tilmeldt pameldt prenumererar feliratkozott 購読 订阅 是否订阅 訂閱 구독 수신동의`),
  ],
];

/** Names with this meaning only together with a word for mail: "Left" alone is a side, "No" a number. */
export const meaningsOfMail: readonly (readonly [SubscriberStatus, ReadonlySet<string>])[] = [
  [
    "unsubscribed",
    keys(`
      no kein keine geen ingen inga bez sans sin sem nessuna left removed remove stop stopped cancelled canceled cancelado
      cancellato disabled off inactive quarantined suspended banned`),
  ],
  ["bounced", keys("invalid")],
  [
    "active",
    keys(`
      consent permission agree agreed agreement accepts accept accepted wants allow allowed allows can canreceive receive
      receives subscription подписка opt einwilligung zustimmung erlaubt erwunscht gewunscht consentement consentimiento consenso zgoda
      согласие toestemming acepta accetta accepte aceita ontvangt recibe recoit`),
  ],
];

/** Names that are doubtful, because they may be about something else. */
export const doubtfulNames: readonly (readonly [SubscriberStatus, ReadonlySet<string>])[] = [
  [
    "active",
    keys(`
      promotionalemails marketingemails emailmarketing marketing mailable emailable marketable contactable subscription opt
      emailpreference`),
  ],
];

/** Parts of a name that make an unknown column suspicious. */
export const suspicious =
  /opt(?:ed|s)?(?:in|out)|subscri|newsletter|nieuwsbrief|nyhetsbrev|nyhedsbrev|boletin|mailing|consent|permission|gdpr|dsgvo|rgpd|einwillig|zustimm|werbung|abmeld|abonn|desinscri|desabon|baja|suscri|iscri|afmeld|zgod|согла|подпис|рассыл|suppress|blacklist|blocklist|bounce|spam|unsub|nomail|donot|配信|購読|メルマガ|订阅|訂閱|수신|구독/u;
/** The parts in `suspicious` that mean no mail. */
export const negative =
  /out|unsub|blacklist|blocklist|suppress|abmeld|desinscri|desabon|baja|afmeld|nomail|nonewsletter|donot|dont|kein|nicht|ohne|geen|sans|^(?:no|sin|sem)|withdr|revok|widerr|widerspr|denied|declin|refus|stop|cancel|停止|拒|解除|退|取消|해지|거부|취소/u;

/** Words for a status, as values. */
export const stateWords: readonly (readonly [SubscriberStatus, ReadonlySet<string>])[] = [
  [
    "active",
    keys(`
      active subscribed enabled confirmed optin optedin granted express explicit implicit implied allow allowed accepted
      agreed iagree engaged marketingcontact aktiv angemeldet abonniert bestatigt actif abonne inscrit activo suscrito alta attivo iscritto
      actief aangemeld ingeschreven aktywny zapisany подписан активен ativo inscrito tilmeldt doubleoptin singleoptin valid deliverable delivered verified
      配信中 有効 订阅 已订阅 訂閱 正常 구독 수신`),
  ],
  [
    "unsubscribed",
    keys(`
      unsubscribed unsubscribe unsub optout optedout inactive inaktiv inactif inactivo inattivo inactief inativo archived
      transactional nonmarketingcontact banned quarantined stopped suspended donotallow dontallow dnc dncd donotsend cancelled canceled disabled blocklisted blacklisted blocked denied
      revoked withdrawn neversubscribed nonsubscribed notsubscribed neveractive deleted removed suppressed refused
      declined donotcontact donotemail abgemeldet abbestellt gesperrt ausgetragen desinscrit desabonne baja dadodebaja
      debaja desuscrito disiscritto cancellato afgemeld uitgeschreven wypisany wypisana отписан отписана отписался
      descadastrado disattivato frameldt avregistrerad nonmarketing blast usersuppressed unconfirmed notconfirmed
      unverified unbestatigt nonconfirme noconfirmado
      配信停止 停止 無効 退会 退订 已退订 取消订阅 退訂 수신거부 구독취소 구독해지`),
  ],
  [
    "bounced",
    keys(
      "bounced bounce hardbounced hardbounce hard permanent cleaned undeliverable undelivered invalid invalidemail unzustellbar rebotado rebote エラー",
    ),
  ],
  [
    "complained",
    keys(
      "complained complaint spam spamcomplaint markedasspam reportedasspam abuse abused abusereport junk reportedspam",
    ),
  ],
];

/**
 * Those words for a status that have the same meaning in a longer text: "Unsubscribed by admin". The others may be
 * about an order.
 */
export const tellingWords = keys(`
  unsubscribed unsubscribe unsub optout optedout blacklisted blocklisted suppressed abgemeldet abbestellt desinscrit
  desabonne disiscritto afgemeld uitgeschreven отписан отписался bounced hardbounce hardbounced complained complaint spam`);
/** Words that negate the next one: "Not subscribed", "Nicht abonniert", "Non inscrit". */
export const negations = keys("not no non never nicht nie niet не nao ikke inte kein");
/** Values that mean nothing. */
export const blankWords = keys(
  "none null nil na nan empty blank notset soft transient temporary unknown unspecified risky catchall acceptall",
);
/** Values that mean no, in addition to those of yes-no.ts: "Newsletter: never". */
export const neverWords = keys("never");

/** Words for a status that are used for mail, and not for orders or payments. */
export const ofMail =
  /subscri|opt(?:ed)?(?:in|out)|(?:hard|soft)bounce|bouncedhard|(?:un|not)confirmed|blocklist|blacklist|suppress|complain|spam|angemeldet|abgemeldet|abonn|inscri|iscri|suscri|afgemeld|aangemeld|подпис|отпис|zapisan|wypisan|descadastr|donotemail|配信|購読|订阅|訂閱|退订|退訂|수신|구독/u;

/** The words in `ofMail` that opt out of mail even in a column about something else. */
export const plainOptOuts =
  /(?:un|non|never|not)subscri|opt(?:ed)?out|(?:hard|soft)bounce|bouncedhard|spamcomplaint|(?:marked|reported)asspam|abgemeldet|desabonn|desinscri|disiscri|desuscri|afgemeld|отпис|wypisan|descadastr|donotemail|配信停止|退订|退訂|수신거부|구독해지|구독취소/u;

/**
 * Parts of a name that show that a status column is about something other than mail. Names that are plainly about mail
 * are matched before.
 */
export const foreign =
  /order|purchase|checkout|cart|payment|payout|transaction|refund|billing|invoice|cheque|check|loan|credit|quote|contract|policy|claim|booking|reservation|appointment|interview|meeting|visit|rsvp|event|attend|guest|invit|ticket|seat|lead|deal|opportunity|application|applicant|candidate|registration|enrol|course|account|licen[cs]e|trial|plan|ship|parcel|fulfil|return|stock|project|task|case|employ|job|marital|family|kyc|bestell|auftrag|zahlung|rechnung|buchung|reservierung|termin|teilnahme|versand|liefer|konto|vertrag|betaling|betaal|factuur|boeking|afspraak|levering|faktur|ordre|bokning/u;
