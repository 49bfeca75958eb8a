/**
 * The words by which other programs and people say that an address gets no mail: names of columns, and values. It is
 * data; opt-out-columns.ts says how it is used. Words are plain: lower-case, without accents.
 */
import type { SubscriberStatus } from "../subscribers/status.ts";

/** Lower-case words of a text, without accents; "HasOptedOut", "opt-out" and "OPT_OUT" are parted alike. */
export function wordsOf(text: string): string[] {
  return (
    text
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

export const keyOf = (text: string) => wordsOf(text).join("");

const keys = (text: string) => new Set(text.trim().split(/\s+/).map(keyOf));

/** Words of a column's name that say nothing about its meaning. */
export const fillers = keys(`
  is has have had was are of from to the all any in e email emails mail mails newsletter newsletters marketing contact
  contacts subscriber customer user person member recipient global globally list lists campaigns by via confirmed
  aus von vom dem der des du de la le les del dal della van uit voor z od ot from`);

/** Of those, the ones that say the column is about mail. */
export const channels = keys("email emails mail mails newsletter newsletters marketing contact campaigns");

/** Words that make of it the moment when something happened. */
export const moments = keys(`
  at on date time datetime timestamp day since when am datum zeitpunkt fecha data dato kiedy дата 日 日時 日付`);

/** Words that make of it something else than a yes or no. */
export const other = keys(`
  reason reasons campaign ip id link url count number source page method title token comment note notes type subtype nl
  grund raison motivo reden powod причина sms phone mobile whatsapp push call calls post postal fax track tracking
  cookie cookies message score rate`);

/**
 * What is left of a column's name, without fillers and moments: Mailchimp (UNSUB_TIME, CLEAN_TIME), Brevo
 * (EMAIL_BLACKLISTED), HubSpot ("Unsubscribed from all email"), Mailjet (IsUnsubscribed, IsExcludedFromCampaigns),
 * MailUp (OptOut_Date), Salesforce (HasOptedOutOfEmail), Sailthru (optout_email), CleverReach (deactivated), and what
 * people write.
 */
export const meanings: readonly (readonly [SubscriberStatus, ReadonlySet<string>])[] = [
  [
    "unsubscribed",
    keys(`
      unsubscribed unsubscribe unsub unsubs unsubscription unsubscriptions optout optedout optouts donot dont no donotemail donotmail
      donotcontact dnc dnm blacklisted blacklist blocklisted blocklist blocked suppressed suppression suppressions excluded exclude
      excludedfrom deactivated revoked withdrawn removed left
      abgemeldet abmeldung ausgetragen abbestellt deaktiviert gesperrt desinscrit desinscrits desinscription desabonne desabonnement
      baja bajas dadobaja suscripcioncancelada desuscrito desuscrita cancelado disiscritto disiscritta disiscrizione cancellato
      afgemeld uitgeschreven afmelding wypisany wypisana wypisano wypis rezygnacja отписан отписана отписался отписка
      descadastrado descadastro avregistrerad avanmald frameldt afmeldt avmeldt peruutettu peruttu odhlasen odhlaseny
      leiratkozott leiratkozas dezabonat odjavljen 配信停止 配信不可 退订 已退订 取消订阅 수신거부`),
  ],
  [
    "bounced",
    keys(`
      bounced bounce hardbounced hardbounce cleaned clean undeliverable unzustellbar gebounced rebote rebotado rebond
      rimbalzato invalidemail emailinvalid`),
  ],
  [
    "complained",
    keys(
      "complained complaint complaints spam spamcomplaint spamreport markedasspam reportedspam abuse abused junk",
    ),
  ],
  [
    "active",
    keys(`
      subscribed subscribe subscription opt optin optedin doi doubleoptin accepts accept accepted wants wantsmail allow allowed allows
      angemeldet abonniert inscrit inscrite abonne abonnee suscrito suscrita iscritto iscritta aangemeld ingeschreven zapisany
      zapisana подписан подписана подписка inscrito tilmeldt pameldt prenumererar`),
  ],
];

/** Names that only with a word about mail say that mail is wanted, and are doubtful alone. */
export const wishes = keys(
  "consent permission agree agreed agreement einwilligung zustimmung consentement consentimiento consenso zgoda согласие toestemming",
);

/** Names that, with a word about mail, say that it gets none. */
export const offSwitches = keys("disabled off inactive deaktiviert quarantined");

/** Parts of a name by which an unknown column may speak of opting out. */
export const suspicious =
  /opt|subscri|newsletter|mailing|consent|permission|gdpr|dsgvo|rgpd|einwillig|zustimm|werbung|abmeld|abonn|desinscri|desabon|baja|suscri|iscri|afmeld|zgod|согла|подпис|рассыл|suppress|black|block|bounce|spam|unsub|nomail|donot|配信|订阅|수신/u;

/** Words for a state, as values. */
export const stateWords: readonly (readonly [SubscriberStatus, ReadonlySet<string>])[] = [
  [
    "active",
    keys(`
      active subscribed enabled confirmed marketingcontact optin optedin granted express explicit implicit implied allowed engaged
      aktiv angemeldet bestatigt actif abonne inscrit activo suscrito attivo iscritto actief aangemeld aktywny
      подписан активен ativo inscrito doubleoptin singleoptin`),
  ],
  [
    "unsubscribed",
    keys(`
      unsubscribed unsubscribe unsub optout optedout cancelled canceled disabled blocklisted blacklisted blocked denied
      revoked withdrawn neversubscribed nonsubscribed notsubscribed neveractive deleted removed suppressed refused
      declined donotcontact donotemail abgemeldet abbestellt gesperrt ausgetragen desinscrit desabonne baja dadodebaja
      debaja desuscrito disiscritto cancellato afgemeld uitgeschreven wypisany wypisana отписан отписана отписался
      descadastrado blast nonmarketing nonmarketingcontact usersuppressed transactional archived inactive inaktiv inactif
      inactivo unconfirmed notconfirmed unverified pending unbestatigt nonconfirme noconfirmado`),
  ],
  [
    "bounced",
    keys(
      "bounced bounce hardbounced hardbounce cleaned undeliverable invalid invalidemail unzustellbar rebotado rebote",
    ),
  ],
  ["complained", keys("complained complaint spam spamcomplaint markedasspam abuse abused junk reportedspam")],
];

/** Words for a state that are used of mail, and not of orders or payments. */
export const ofMail =
  /subscri|opt(?:ed)?(?:in|out)|bounce|blocklist|blacklist|suppress|complain|spam|confirmed|angemeldet|abgemeldet|abonn|inscri|iscri|suscri|afgemeld|aangemeld|подпис|отпис|zapisan|wypisan/u;

/** Names of files that hold people who get no mail. */
export const fileNames =
  /(?:non|un)[-_ ]?subscri|cleaned|bounce|suppress|block[-_ ]?list|black[-_ ]?list|opt[-_ ]?outs?(?![a-z])|opted[-_ ]?out|complaint|spam[-_ ]?report|abgemeldet|abmeldungen|desinscri|désinscri|desabonn|désabonn|bajas|disiscritt|afgemeld|отпис/iu;

export const yesWords = keys(
  "yes y true t 1 x on ja j oui o si s sim tak да vrai wahr verdadero vero checked ✓ はい 是 예",
);
export const noWords = keys(
  "no n false f 0 off nein non nao nie нет faux falsch falso none null na nil never unchecked いいえ 否 아니요",
);
