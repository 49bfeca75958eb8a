/**
 * What notices in other languages than English say of a delivery: that it failed, that it is late, or that it is given
 * up. Data for notice-state.ts; the rules read text as plain-words.ts writes it, with "@" for each address. What a
 * language says of a delay or of giving up counts only where two different words of its `marks` are in the text, because
 * those rules are short enough to match words of other languages.
 */

interface NoticeLanguage {
  /** Frequent words of the language; null where its script or its rules are unmistakable. */
  readonly marks: RegExp | null;
  /** The message was not delivered. */
  readonly failed: RegExp;
  /** It is late, or will be tried again. */
  readonly delayed: RegExp;
  /** It will not be tried again, whatever else is said. */
  readonly givenUp: RegExp;
}

/** Any word, at most so many times: what stands between the words of a rule. */
const words = (most: number) => String.raw`(?: [^\s.:;!?]+){0,${most}}`;
/** A rule: its phrases, "~3" for up to three words in between. Each phrase begins a word. */
function rule(...phrases: readonly string[]): RegExp {
  const source = phrases.map((text) => text.replace(/~(\d)/g, (_, most: string) => words(Number(most))));
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source.join("|")})`, "u");
}
/** Words that are whole. */
const marks = (text: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${text.replaceAll(" ", "|")})(?![\p{L}\p{N}])`, "gu");

export const NOTICE_LANGUAGES: Readonly<Record<string, NoticeLanguage>> = {
  german: {
    marks: marks(
      "der die das nicht ihre ihrer ist und wurde konnte wird nachricht an zu folgende folgenden empfanger empfaenger zustellung ubermittlung",
    ),
    failed: rule(
      "nicht~3 (?:zugestellt|zustell|ausgeliefert|aus?liefer|ubermittel|uebermittel|ubertrag|gesendet|versendet|versandt|weitergeleitet|angenommen|erreich)",
      "un(?:zu)?stellbar|unzustellbar",
      "(?:zustellung|auslieferung|ubermittlung|uebermittlung)~6 (?:fehlgeschlagen|schlug|gescheitert|nicht|unmoglich|abgelehnt|abgebrochen)",
      "fehler bei der (?:zustell|ubermitt|uebermitt|auslieferung)",
      "zustell\\w*fehler|zustellung fehlgeschlagen",
      "(?:nachricht|e-?mail|annahme|zustellung)~6 (?:verweigert|abgelehnt)",
      "(?:zuruck|zurueck)(?:gewiesen|geschickt|gesandt|gesendet)|abgewiesen",
      "(?:postfach|mailbox)~6 (?:voll|uberfullt|ueberfuellt)",
      "(?:empfanger|empfaenger|benutzer|adresse|postfach)~3 (?:unbekannt|existiert nicht|nicht (?:gefunden|bekannt|vorhanden))",
      "unbekannter? (?:empfanger|empfaenger|benutzer)",
    ),
    delayed: rule(
      "(?:zustell)?verzoger|(?:zustell)?verzoeger|verspat|verspaet",
      "(?:noch|bisher|bislang)~1 nicht~3 (?:zugestellt|zustell|ausgeliefert|ubermittel|uebermittel|gesendet)",
      "(?:wird|werden|versuche)~6 (?:weiter(?:hin)?|erneut|nochmals|wieder|fortgesetzt)",
      "(?:weiterhin|erneut|weitere)~3 (?:zustell|versuch|zu senden|zuzustellen)",
      "zustellversuche~4 (?:fortgesetzt|unternommen|werden)",
      "nur (?:eine|als) warn",
      "(?:brauchen|mussen|muessen)~5 nicht (?:erneut|noch einmal|nochmals)",
    ),
    givenUp: rule(
      "endgultig|endgueltig|dauerhaft|aufgegeben|eingestellt",
      "permanente[rn]? fehler",
      "(?:keine?|nicht)~1 (?:weiteren?|mehr|erneut|noch einmal)~3 (?:versuch|zustell|unternommen|zugestellt)",
    ),
  },
  french: {
    marks: marks(
      "le la les votre vos vous pas est ete une des du de pour aux suivant suivants destinataire destinataires remise livraison courrier",
    ),
    failed: rule(
      "n'(?:a|ont|est|etait) (?:pas |toujours |encore )*(?:pu|ete)?~3 ?(?:remis|livre|delivre|envoye|distribue|achemine|transmis|expedie|parvenu)",
      "n'(?:a|ont|est) pas (?:abouti|arrive)",
      "n'(?:a|ont) pas pu (?:etre|vous|atteindre|joindre)",
      "impossible~2 (?:de |d')(?:remettre|livrer|delivrer|distribuer|envoyer|acheminer|transmettre|joindre|remise)",
      "(?:echec|erreur|probleme|defaut)s?~3 (?:(?:de |d'|a )(?:la |l')?)?(?:remise|livraison|distribution|envoi|acheminement|delivrance|transmission)",
      "(?:remise|livraison|distribution|envoi|acheminement)~5 (?:echoue|impossible|refuse)",
      "non[- ](?:remis|distribu|delivr|livr)",
      "ne (?:peut|pourra|sera)(?: pas)?~1 (?:etre )?(?:remis|livre|delivre|distribue|achemine)",
      "(?:message|courrier|courriel)~6 (?:rejete|refuse|retourne)",
      "boite~6 (?:est )?pleine",
      "(?:destinataire|utilisateur|adresse|compte)~5 (?:inconnu|inexistant|n'existe pas)",
    ),
    delayed: rule(
      "(?:en|du|de|avec|un|le) retard|retarde(?:e?s?)(?![\\p{L}])|differee?s?(?![\\p{L}])|reporte(?:e?s?)(?![\\p{L}])~3 (?:remise|livraison)",
      "n'(?:a|ont|est) (?:pas encore|toujours pas|encore pas|pas pour l'instant)",
      "pas (?:encore|pu encore)~3 (?:remis|livre|delivre|distribue|envoye|achemine)",
      "(?:sera|seront|va|vont|allons|continue\\w*|serveur|systeme|nous)~5 (?:retent|reessa|renouvel|essay\\w* (?:a|de) nouveau|a nouveau|de nouveau|tenter a|de tenter|d'essayer|poursui)",
      "continu\\w*~2 (?:ses |les |de |d'|a )?(?:essai|tentati|essay|tenter|livr|remettre|distribu)",
      "(?:nouvelles?|autres?|prochaines?|ulterieures?|supplementaires?)~1 (?:tentatives?|essais?)",
      "(?:tentatives?|essais?)~6 (?:continu|poursui|renouvel|reprendr|se feront|effectuees? (?:pendant|durant))",
      "(?:simple|seulement un|qu'un) avertissement|avertissement (?:seulement|uniquement)",
      "(?:pas|inutile)~3 (?:necessaire |besoin )?(?:de |d')(?:renvoyer|reexpedier|retransmettre|le renvoyer)",
    ),
    givenUp: rule(
      "definitive?(?:ment)?|permanente?(?![\\p{L}])|abandonn",
      "(?:aucune?|plus (?:de|d'))~1 ?(?:autre |nouvelle |nouvel )?(?:tentative|essai)",
      "ne (?:sera|seront|va|vont|retente|reessai|renouvel)\\w*~1 (?:pas|plus)",
    ),
  },
  spanish: {
    marks: marks(
      "el la los las su sus no se que para por mensaje correo ha del una siguiente siguientes destinatario destinatarios entrega",
    ),
    failed: rule(
      "no (?:se |le )?(?:ha |han |pudo |pudieron |puede |pueden |fue |fueron |sera |hemos |es |ha sido )*(?:podido |posible |logrado )*(?:ser )?(?:entreg|envi|remit|repart|distribu|hacer llegar|transmit)",
      "no entregad|no entregable",
      "imposible~2 (?:entreg|envi|realizar la entrega|la entrega)",
      "(?:error|fallo|falla|problema|fracaso)s?~4 (?:entreg|envio|reparto)",
      "(?:entrega|envio)~5 (?:fallid|fallado|fallo|fracas|rechazad|no se)",
      "(?:mensaje|correo)~6 (?:devuelto|rechazado)|devuelto al remitente",
      "(?:buzon|casilla)~6 llen[oa]",
      "(?:usuario|destinatario|direccion|cuenta|buzon)~4 (?:desconocid|inexistente|no existe|no encontrad)",
    ),
    delayed: rule(
      "retras(?:o|ad|os)|demora(?:d|do|da)?(?![\\p{L}])|aplazad|pospuest|diferid|en espera de",
      "(?:aun|todavia)~1 no~4 (?:entreg|envi|podido)",
      "no~4 (?:entreg\\w*|enviad\\w*|podido)~3 (?:aun|todavia)",
      "(?:segui|continua|volver|volvera|tratar|intentar)\\w*~4 (?:intent|tratando|reintent|a intentar|de nuevo|nuevamente|entregarlo|durante)",
      "(?:nuevos|mas|otros) intentos|(?:se |lo )?reintentar|intentos?~4 (?:continuar|prosegu|seguir)",
      "no~2 (?:necesario|necesita|falta)~3 (?:reenv|volver a|que vuelva)",
      "(?:solo|solamente|unicamente)~2 (?:una |de )?advertencia|mensaje de advertencia|es (?:solo )?un aviso",
    ),
    givenUp: rule(
      "definitiv|permanente|abandon|ha (?:expirado|caducado)|se ha desistido",
      "no (?:se|lo|habra|volver)~3 (?:volver|reintentar|mas intentos|intentar|nuevos intentos|otros intentos|a intentar)",
    ),
  },
  italian: {
    marks: marks(
      "il la di non del della che per stato messaggio e un al sono seguente seguenti destinatario destinatari consegna recapito",
    ),
    failed: rule(
      "non (?:e |e' |sono |puo |ha |hanno |si |stat[oai] )*(?:possibile |potuto |riuscit[oa] )*(?:a |essere |stat[oai] )*(?:consegn|recapit|inviat|inviare|inoltr|spedi|trasmess|trasmett|raggiung)",
      "impossibile~2 (?:consegn|recapit|invi|inoltr|raggiung)",
      "(?:mancat[ao]|fallit[ao]|mancato) (?:consegna|recapito|invio)",
      "(?:errore|problema|errori|problemi)~3 (?:consegna|recapito|invio)",
      "(?:consegna|recapito|invio)~4 (?:fallit|non riuscit|impossibil|rifiutat)",
      "messaggio~6 (?:respinto|rifiutato|restituito)|non recapitat|non consegnat",
      "casella~6 piena",
      "(?:utente|destinatario|indirizzo|casella)~4 (?:sconosciut|inesistent|non esist|non trovat)",
    ),
    delayed: rule(
      "ritard[oai]|ritardat|rinviat[oa]|posticipat|differit",
      "non~3 ancora~3 (?:consegn|recapit|inviat|stat)",
      "ancora non~3 (?:consegn|recapit|inviat)",
      "(?:verra|verranno|sara|saranno|continu\\w*|sistema|server)~5 (?:riprov|ritent|nuovamente|di nuovo|a tentare|tentare|provare|altri tentativi|ripetut)",
      "(?:ulteriori|nuovi|altri) tentativi|tentativi~4 (?:continu|prosegu|ripet)",
      "non~2 necessario~3 (?:rinvi|rispedi|reinvi|inviare)",
      "solo un(?:a)? (?:avviso|avvertimento|notifica di)|semplice avviso",
    ),
    givenUp: rule(
      "definitiv|permanente?(?![\\p{L}])|abbandonat|scadut[oa]",
      "non~3 (?:altri|ulteriori|nuovi) tentativi|nessun~1 (?:altro |ulteriore )?tentativo|non~1 (?:ritenter|riprover|verra ritentat|verra riprovat)",
    ),
  },
  portuguese: {
    marks: marks(
      "nao sua seu foi para mensagem que uma ao ser do da pode seguinte seguintes destinatario destinatarios entrega",
    ),
    failed: rule(
      "nao (?:foi |pode |pudo |podera |se |e |conseguiu |conseguimos |ha |sera )*(?:possivel |ser )*(?:entreg|envi|remet|transmit|encaminh)",
      "impossivel~2 (?:entreg|envi)",
      "(?:falha|erro|problema)s?~4 (?:entrega|envio|enviar|entregar)",
      "(?:entrega|envio)~4 (?:falhou|falha|fracass|rejeit|recus|nao)",
      "mensagem~6 (?:devolvid|rejeitad|recusad)|devolvida? ao remetente|nao entregue",
      "caixa~6 (?:cheia|lotada)",
      "(?:usuario|utilizador|destinatario|endereco|conta)~4 (?:desconhecid|inexistente|nao existe|nao encontrad)",
    ),
    delayed: rule(
      "atras(?:o|ad)|adiad[oa]|demora(?:d)?(?![\\p{L}])|protelad",
      "ainda nao~4 (?:entreg|envi|foi)|nao~3 ainda~2 (?:entreg|envi)",
      "(?:continua|voltar|tentar|sera|serao|iremos|vamos)\\w*~4 (?:tentando|a tentar|tentar|novamente|de novo|tentada|tentativas)",
      "(?:novas?|outras) tentativas?|tentativas?~4 (?:continuar|prosseguir|serao feitas)",
      "nao~2 (?:necessario|precisa)~2 (?:reenvi|enviar)",
      "(?:apenas|somente)~1 (?:um )?aviso",
    ),
    givenUp: rule(
      "definitiv|permanente|desist|abandon|expirou",
      "nao~3 (?:novas|mais|outras) tentativas|nao~1 (?:sera|serao|vamos|iremos) (?:mais )?(?:tenta|tentar)|nenhuma~1 (?:outra |nova )?tentativa",
    ),
  },
  dutch: {
    marks: marks(
      "het een niet uw van is de aan bericht kon werd zijn voor en volgende ontvanger ontvangers bezorging",
    ),
    failed: rule(
      "niet~3 (?:bezorg|afgeleverd|afleveren|aflever|verzonden|verstuurd|besteld|doorgestuurd|worden bereikt|ontvangen)",
      "onbestelbaar|onbezorgbaar|niet-bezorg",
      "(?:bezorging|aflevering|levering|verzending)~5 (?:mislukt|niet gelukt|onmogelijk|geweigerd)",
      "(?:fout|probleem|problemen)~3 (?:bezorg|aflever|verzend)",
      "(?:postvak|mailbox|postbus)~6 vol(?![\\p{L}])",
      "(?:gebruiker|ontvanger|geadresseerde|adres)~4 (?:onbekend|bestaat niet|niet gevonden)|onbekende? (?:gebruiker|ontvanger)",
    ),
    delayed: rule(
      "vertraag|vertraging|uitgesteld",
      "nog (?:steeds |altijd )?niet~3 (?:bezorg|afgeleverd|verzonden|verstuurd|gelukt)",
      "(?:wordt|worden|zal|zullen|blijft|blijven|we)~5 (?:opnieuw|nogmaals|verder)~3 (?:geprober|geprobeerd|prober|gepoogd|bezorg)",
      "(?:blijft|blijven|blijf)~3 (?:proberen|prober)|(?:prober|geprobeerd)\\w*~4 (?:opnieuw|nogmaals)",
      "pogingen~4 (?:voortgezet|gedaan|ondernomen)|(?:nieuwe|verdere) pogingen",
      "hoeft~5 niet~2 (?:opnieuw|nogmaals)|slechts een waarschuwing|alleen een waarschuwing",
    ),
    givenUp: rule(
      "definitief|permanente?(?![\\p{L}])|blijvend|opgegeven",
      "geen (?:verdere|nieuwe|andere)~1 pogingen|niet (?:meer|opnieuw|nogmaals)~2 (?:geprobeerd|proberen|prober)",
    ),
  },
  polish: {
    marks: marks(
      "nie sie do na jest wiadomosc zostala zostal pod adres z dla nastepujacych odbiorcy odbiorcow dostarczenie wiadomosci",
    ),
    failed: rule(
      "nie~4 (?:dostarcz|doreczon|dorecz|wyslan|wyslac|przekazan|przeslan)",
      "niedostarcz|niedoreczon",
      "(?:blad|problem|niepowodzenie|bledy)~3 (?:dostarcz|dorecz|wysyl|przesyl)",
      "(?:dostarczenie|doreczenie|wyslanie)~4 (?:nie|niemozliwe|nieudane)",
      "wiadomosc~6 (?:zwrocon|odrzucon)|zwrot (?:wiadomosci|poczty|do nadawcy)",
      "skrzynka~6 (?:pelna|przepelniona)",
      "(?:uzytkownik|odbiorca|adres|konto)~4 (?:nie istnieje|nieznan)|nieznany (?:uzytkownik|odbiorca|adres)",
    ),
    delayed: rule(
      "opozni|opoznien|odroczon|wstrzyman",
      "jeszcze nie~3 (?:dostarcz|dorecz|zostal)|nie~3 jeszcze~2 (?:dostarcz|dorecz)",
      "(?:kolejn|ponown|dalsz|nastepn)\\w*~1 prob|prob\\w*~4 (?:kontynuowan|ponawian|ponowion|beda|bedzie)",
      "bedzie~3 (?:ponawia|probowa|podejmowa)|beda~3 (?:ponawia|podejmowa)",
      "nie (?:trzeba|musisz|ma potrzeby)~3 (?:ponownie|wysylac)|tylko ostrzezenie",
    ),
    givenUp: rule(
      "trwal[ye]|ostateczn|zaprzesta|zrezygnowan",
      "nie (?:bedzie|beda)~3 (?:ponawian|dalsz|kolejn|podejmowan|probowa|ponownych)",
    ),
  },
  russian: {
    marks: null,
    failed: rule(
      "не~4 (?:доставлен|доставить|доставля|отправлен|отправить|передан|передать|доставлять)",
      "недоставл|недоставк",
      "(?:ошибк|сбо[йея]|невозможн|неудач|проблем)\\p{L}*~4 (?:доставк|доставить|отправк|пересыл)",
      "доставк\\p{L}*~4 (?:не удал|невозможн|не выполнен|прекращен|неудач)",
      "(?:письмо|сообщение)~6 (?:возвращен|отклонен|не принят)|возвращен\\p{L}* отправител",
      "(?:ящик|почтов\\p{L}* ящик)~3 (?:переполнен|заполнен|отключен|не существует|не найден)",
      "(?:пользовател|адресат|получател|адрес)\\p{L}*~3 (?:не найден|не существует|неизвест)",
    ),
    delayed: rule(
      "задерж|отложен",
      "(?:еще|пока|до сих пор)~1 не~3 (?:доставлен|доставить|отправлен|удалось)",
      "(?:попыт)\\p{L}*~5 (?:продолж|повтор|возобнов|будут|предприним)",
      "(?:повторн|дальнейш|следующ|новы|продолж)\\p{L}*~2 (?:попыт|пытать|доставл)",
      "(?:будет|будут|будем)~3 (?:повторен|повторять|пытаться|продолж)",
      "(?:только|лишь) предупреждени|не (?:нужно|требуется)~2 (?:повторно|отправлять)",
    ),
    givenUp: rule(
      "окончательн|больше не буд|прекращен|отказались от",
      "(?:постоянн|неустраним|фатальн)\\p{L}* ошибк",
      "не буд\\p{L}*~3 (?:предприним|повтор|пытать|больше)|(?:дальнейших|новых|повторных)~1 попыток~2 не",
    ),
  },
  ukrainian: {
    marks: null,
    failed: rule(
      "не~4 (?:доставлен|доставити|надіслан|надіслати|відправлен|відправити)",
      "(?:помилк|збі[йю]|неможлив|невдач)\\p{L}*~4 (?:доставк|доставлен|доставит|надсилан)",
      "(?:скриньк)\\p{L}*~3 (?:переповнен)|(?:користувач|одержувач|адрес)\\p{L}*~3 (?:не знайден|не існу|невідом)",
    ),
    delayed: rule(
      "затрим|відкладен",
      "(?:ще|поки|досі)~1 не~3 (?:доставлен|доставити|надіслан)",
      "спроб\\p{L}*~4 (?:продовж|повтор|будуть)|(?:повторн|подальш|наступн)\\p{L}*~1 спроб",
    ),
    givenUp: rule("остаточн|більше не буд|припинен|не буд\\p{L}*~3 (?:повтор|спроб)"),
  },
  japanese: {
    marks: null,
    failed:
      /(?:配信|送信|配達|配送|送達|転送|届け|お届け)(?:する)?(?:こと)?(?:が|は|に|も|を)?(?:行う(?:こと)?が)?(?:でき(?:ません|なかった|なく|ない|ず)|出来(?:ません|なかった)|失敗|不能|不可|エラー|されませんでした)|(?:届き|配信され|配達され|配送され|送信され|到達し|受信され)ませんでした|(?:不達|未達|未配信|不着)|(?:エラーメール|返送|差し戻|戻されま|拒否され)|(?:宛先|受信者|ユーザ|アドレス|受取人)[^。]{0,24}(?:存在し(?:ません|ない)|見つかりません|不明|無効)|(?:メールボックス|受信箱|容量)[^。]{0,16}(?:いっぱい|一杯|満杯|超過|超え|オーバー)/u,
    delayed:
      /遅延|遅れて|遅滞|保留(?:中|され)|まだ[^。]{0,24}(?:配信|届|配達|送信|送達)|再送(?:信)?(?:を|が)?(?:続け|試み|試行|行い|いたし|され|予定|します)|再試行(?:を|が)?(?:続け|行|いたし|され|中|します)|(?:引き続き|継続して|継続的)[^。]{0,20}(?:配信|配達|送信|送達|試)|(?:配信|送信)(?:の)?(?:試行|再試行)[^。]{0,8}(?:続|継続)|警告(?:メール|メッセージ)?(?:のみ|だけ)|再度(?:送信する|お送りいただく)必要は(?:あり|ござい)ません/u,
    givenUp:
      /断念|中止|打ち切|諦め|あきらめ|再送(?:信)?(?:は|を)?(?:行いません|いたしません|しません|されません)|再試行(?:は|を)?(?:行いません|しません)|これ以上|恒久的|永久|永続的/u,
  },
  chinese: {
    marks: null,
    failed:
      /(?:无法|無法|未能|不能|没有|沒有|未|不)(?:被|成功|正常|将|將){0,2}(?:投递|投遞|送达|送達|递送|遞送|发送|發送|传递|傳遞|寄达|寄達|送出|投送|到达|到達|发出|傳送|传送)|(?:投递|投遞|发送|發送|递送|遞送|送达|送達|传送|傳送|寄送|投送)(?:给|給)?(?:邮件|郵件|时|時)?[^。，]{0,6}(?:失败|失敗|错误|錯誤|不成功|异常)|退信|退回|退件|拒收|被拒|(?:用户|用戶|使用者|邮箱|信箱|收件人|地址|帐号|帐户|账号|郵箱)[^。]{0,12}(?:不存在|已满|已滿|无效|無效|未找到|空间不足|被禁用)/u,
    delayed:
      /延迟|延遲|延误|延誤|推迟|暂缓|(?:尚未|还未|還未|还没|還沒|暂未|暫未|仍未)[^。]{0,8}(?:投递|投遞|送达|送達|递送|遞送|发送|發送|传递|成功|傳送)|(?:系统|系統|服务器|伺服器|我们|我們|将|將|会|會|继续|繼續)(?:在|于|於|继续|繼續|不断|定期|自动|自動|尝试|嘗試|重新){0,3}[^。请請]{0,6}(?:重试|重試|尝试|嘗試|重新投递|重新投遞|重新发送|重投|再次投递|再次投遞)|无需重(?:新)?发|不需要重(?:新)?发/u,
    givenUp:
      /放弃|放棄|不再(?:尝试|嘗試|重试|重試|投递|投遞|进行|進行)|不会(?:再|继续)|不會(?:再|繼續)|永久|停止(?:尝试|嘗試|投递|投遞|重试|重試)|最终(?:失败)?|最終(?:失敗)?/u,
  },
  korean: {
    marks: null,
    failed:
      /(?:전송|전달|배달|발송|배송|보내)(?:을|를|이|가|에|은|는)? ?(?:할 수|하지|되지|될 수|지|수)? ?(?:못|않|없|실패|불가)|(?:전송|전달|배달|발송) ?(?:오류|에러|불능|불가)|반송|수신 ?거부|(?:사용자|수신자|주소|계정|메일함|편지함)[^.]{0,16}(?:존재하지 않|찾을 수 없|가득|초과|알 수 없)/u,
    delayed:
      /지연|아직[^.]{0,20}(?:전송|전달|배달|발송)|(?:재시도|다시 시도|재전송)(?:를|을)? ?(?:합니다|할 것|하겠|됩니다|될|예정|중|계속)|계속[^.]{0,12}시도/u,
    givenUp: /영구|더 이상[^.]{0,12}(?:시도|전송)|포기|중단/u,
  },
  swedish: {
    marks: marks(
      "inte till att ditt din har meddelandet meddelande kunde for och ett foljande mottagare leverans",
    ),
    failed: rule(
      "(?:inte|ej)~3 (?:leverer|skick|sand|levereras|na fram)",
      "(?:leverans|utskick)\\w*~4 (?:misslyck|fel)|leveransfel|olevererbar",
      "(?:brevlada|postlada|inkorg)\\w*~3 full|(?:anvandaren?|mottagaren?|adressen?)~3 (?:finns inte|okand|hittades inte)",
    ),
    delayed: rule(
      "forsena|fordroj|uppskjut",
      "(?:annu|fortfarande) inte~2 (?:leverer|skick)|inte~2 levererats an",
      "forsok\\w*~4 (?:fortsatt|goras|pagar|igen)|fortsatter~2 forsoka|forsoker igen|nya forsok",
    ),
    givenUp: rule("permanent|gett upp|slutgiltig|inga (?:fler|fler|ytterligare)~1 forsok"),
  },
  danish_norwegian: {
    marks: marks(
      "ikke til din den blev ble kunne har meldingen meddelelsen og er for af av folgende modtagere mottakere levering",
    ),
    failed: rule(
      "ikke~3 (?:lever|afleveret|afleveres|sendes|sendt|kommet frem)",
      "(?:levering|aflevering)\\w*~4 (?:mislyk|feil|fejl)|leveringsfe[ij]l|kan ikke leveres",
      "(?:postkasse|indbakke|innboks|postboks)\\w*~3 (?:full|fuld)|(?:bruker|bruger|modtager|mottaker|adresse)\\w*~3 (?:findes ikke|finnes ikke|ukendt|ukjent)",
    ),
    delayed: rule(
      "forsink|udskudt|utsatt",
      "(?:endnu|enda|fortsatt|stadig)~1 ikke~2 (?:lever|sendt|blevet|blitt)|ikke~2 lever\\w* (?:enda|endnu)",
      "(?:forsok|forsog|prov)\\w*~4 (?:igen|igjen|fortsatt|fortsaet|pa ny|fortsetter)|(?:fortsaetter|fortsetter)~3 (?:forsog|forsok|prove)|nye? (?:forsok|forsog)",
    ),
    givenUp: rule("permanent|opgivet|gitt opp|ingen flere~1 (?:forsok|forsog)|endelig"),
  },
  finnish: {
    marks: marks(
      "ei ole viesti viestia viestisi on ja vastaanottajalle seuraaville tai voitu toimitus vastaanottajille",
    ),
    failed: rule(
      "ei~4 (?:toimit|lahet|valit|perille)",
      "(?:toimitus|toimittaminen|lahetys|lahettaminen)\\w*~4 (?:epaonnistu|ei onnistu|estynyt)",
      "postilaatikko\\w*~3 taynna|(?:kayttaja|vastaanottaja|osoite)\\w*~3 (?:ei (?:ole|loydy)|tuntematon)|palautettu lahettajalle",
    ),
    delayed: rule(
      "viivasty|viive|myohasty",
      "ei~2 viela~3 (?:toimit|lahet|perille)|viela ei~3 (?:toimit|lahet)",
      "yrite\\w*~3 uudelleen|yritt\\w*~3 (?:uudelleen|edelleen|jatke)|uudelleenyrit|jatketaan",
    ),
    givenUp: rule("pysyva|lopullis|ei (?:enaa )?yrite\\w*~1 (?:enaa|uudelleen)|luovutt"),
  },
  czech_slovak: {
    marks: marks(
      "se na nebo je vase zprava zpravu sprava spravu nebylo bylo nebola ktera pro pre ste nasledujici doruceni dorucenie prijemce",
    ),
    failed: rule(
      "(?:nelze|nemohl|nebyl|nepodaril|neda|nie je mozne|nemoz|nebol|nepodari|nemohol)\\w*~6 (?:doruc|odesl|odosl|predat|predana)",
      "nedoruc",
      "(?:chyba|chyby|selhani|zlyhanie|problem)~3 (?:doruc|dorucen)|(?:doruceni|dorucenie)~4 (?:selhal|zlyhal|se nezdar|nebolo|neni mozne)",
      "(?:schranka|schranke)~3 (?:plna|preplnen)|(?:uzivatel|pouzivatel|prijemce|prijemca|adresa)~3 (?:neexistuje|neznam)",
    ),
    delayed: rule(
      "zpozd|oneskor|zdrzen|odlozen",
      "(?:dosud|zatim|zatial|doposud|este|jeste)~2 (?:ne\\w+)",
      "(?:dalsi|dalsie|opakovan|opatovn)\\w*~1 (?:pokus|doruc)|pokus\\w*~4 (?:pokracov|opakov|budou|budu)|bude~3 (?:pokusat|pokouset|opakov)",
    ),
    givenUp: rule(
      "trval[aeyou]|konecn|definitivn|(?:zadne|ziadne)~1 (?:dalsi|dalsie)~1 pokus|nebud\\w*~2 (?:pokus|opakov)|vzdal",
    ),
  },
  hungarian: {
    marks: marks(
      "nem az egy es a uzenet uzenetet level levelet kovetkezo cimzett cimre volt kezbesites cimzettek",
    ),
    failed: rule(
      "nem~4 (?:kezbesit|tovabbit|elkuld|szallit|lehetett|sikerult)",
      "kezbesithetetlen|(?:kezbesites|kuldes|tovabbitas)\\w*~4 (?:sikertelen|meghiusul|nem sikerult|hiba)|sikertelen~1 (?:kezbesit|kuld)|kezbesitesi hiba|visszakuld",
      "(?:postafiok|fiok)\\w*~3 (?:megtelt|tele)|(?:felhasznalo|cimzett|cim)\\w*~3 (?:nem letezik|ismeretlen)",
    ),
    delayed: rule(
      "kesik|kesleltet|kesedelm|kesese|keses(?![\\p{L}])",
      "(?:meg|eddig|egyelore)~1 nem~3 (?:kezbesit|tovabbit|sikerult|lehetett)",
      "ujra~1 ?(?:probal|megprobal|kiserl)|tovabbi~1 (?:probal|kiserlet)|(?:kiserlet|probal)\\w*~3 folytat|tovabbra is~3 (?:probal|kiserl)",
    ),
    givenUp: rule("vegleges|tartos hiba|nem~1 (?:probal|kiserl)\\w*~1 (?:ujra|tovabb)|feladta"),
  },
  romanian: {
    marks: marks(
      "nu a fost mesajul mesaj catre pentru si la dumneavoastra dvs care nu este urmatorii destinatari livrarea",
    ),
    failed: rule(
      "nu~4 (?:livrat|livra|trimis|trimite|expediat|transmis|furnizat)",
      "(?:esec|eroare|probleme?)~3 (?:livrar|trimiter|expedier)|livrare\\w*~3 (?:esuat|a esuat|imposibil)|nelivrat",
      "(?:cutia|casuta)~4 plina|(?:utilizator|destinatar|adresa)\\w*~4 (?:necunoscut|inexistent|nu exista)",
    ),
    delayed: rule(
      "intarzi|amanat",
      "inca nu~3 (?:livrat|fost|trimis)|nu~2 inca~2 (?:livrat|trimis)",
      "reincerc|incercari\\w*~4 (?:continua|repet)|(?:se va|vom|va)~2 (?:incerca din nou|incerca in continuare|continua)",
    ),
    givenUp: rule("definitiv|permanent|nu se va (?:mai )?(?:re)?incerca|renuntat"),
  },
  turkish: {
    marks: null,
    failed: rule(
      "teslim ed(?:ilem|em)|gonderilem(?:edi|iyor)|iletilem(?:edi|iyor)|ulastirilam",
      "(?:teslim|gonderim|iletim|teslimat)\\w*~3 (?:basarisiz|hata)|(?:posta kutusu|gelen kutusu)~2 dolu|(?:kullanici|alici|adres)\\w*~3 (?:bulunamadi|mevcut degil)",
    ),
    delayed: rule(
      "gecik(?:ti|me|iyor|tir|mis)|ertelendi",
      "henuz~3 (?:teslim|iletil|gonderil|ulas)",
      "(?:tekrar|yeniden)~1 den(?:en|iy|ey)|denem(?:eye|eler)~3 (?:devam|surecek|surdur)",
    ),
    givenUp: rule("kalici|vazgecil|tekrar denenmeyecek|artik denenm|baska deneme"),
  },
  greek: {
    marks: null,
    failed:
      /δεν (?:[^\s.]+ ){0,4}(?:παραδ|παράδ|αποστ|στάλ|σταλ|δυνατή|μπόρεσε)|αποτυχία (?:[^\s.]+ )?(?:παράδοσης|αποστολής)|αδυναμία (?:[^\s.]+ )?παράδοσης/u,
    delayed:
      /καθυστ[εέ]ρ|δεν έχει (?:[^\s.]+ ){0,2}ακόμ|ακόμη δεν|ακόμα δεν|θα (?:[^\s.]+ ){0,3}(?:προσπαθ|συνεχ)/u,
    givenUp: /οριστικ|μόνιμ|δεν θα (?:[^\s.]+ ){0,2}(?:προσπαθ|επαναλ)/u,
  },
  bulgarian: {
    marks: null,
    failed: rule(
      "не~4 (?:доставен|достави|изпратен|бъде доставен)",
      "неуспешн\\p{L}* доставк|грешка при доставк|недоставен",
    ),
    delayed: rule(
      "забав|закъсн|все още не|(?:опит)\\p{L}*~4 (?:продълж|повтор)|ще~2 (?:опита отново|продължи)",
    ),
    givenUp: rule("окончателн|няма да~2 (?:опит|повтор)|постоянна грешка"),
  },
  south_slavic: {
    marks: marks("nije nisu nisam bila bilo poruka poruku sporocilo sporocila je na vasa vase ni bilo"),
    failed: rule(
      "(?:nije|nisu|nemoguce|ni|niso)~5 (?:isporuc|dostav|poslan|poslat)",
      "neisporuc|nedostav|(?:greska|napaka)~3 (?:isporuk|dostav)|(?:isporuka|dostava)~4 (?:nije|ni uspel|neuspe)",
    ),
    delayed: rule(
      "odgoden|odlozen|kasni|zakasn|zamuj|zamud|jos (?:uvijek |uvek )?nije|ponovn\\w*~1 (?:poku|posku)|(?:pokusa|poskus)\\w*~3 (?:nastav|ponov)",
    ),
    givenUp: rule("trajn|konacn|dokonc|odusta|nece~2 (?:pokus|ponov)"),
  },
  hebrew: {
    marks: null,
    failed: /לא (?:\S+ ){0,2}(?:ניתן|נמסר|נשלח|הצליח|הגיע)|נכשל|כשל ב|לא נמסר/u,
    delayed: /עיכוב|מתעכב|מעוכב|טרם נ|ננסה|ינסה|ניסיונות נוספים/u,
    givenUp: /סופי|לצמיתות|לא ננסה|לא ינסה/u,
  },
  arabic: {
    marks: null,
    failed: /(?:تعذر|تعذّر|لم يتم|فشل|لا يمكن|لم نتمكن)(?: \S+){0,3} (?:ال)?(?:تسليم|إرسال|توصيل|ارسال)/u,
    delayed: /تأخ|تأجيل|لم (?:يتم|تصل|تسلم)(?: \S+){0,3} بعد|إعادة المحاولة|ستستمر/u,
    givenUp: /نهائي|دائم|لن (?:تتم|نحاول|يتم)/u,
  },
  vietnamese: {
    marks: null,
    failed: rule("khong the (?:gui|chuyen|giao)|khong (?:gui|giao|chuyen) duoc|(?:gui|giao)~2 that bai"),
    delayed: rule("bi (?:tri hoan|cham)|chua (?:gui|giao|chuyen)~1 duoc|se (?:tiep tuc )?thu lai"),
    givenUp: rule("vinh vien|se khong thu lai"),
  },
  indonesian: {
    marks: null,
    failed: rule(
      "tidak (?:dapat|bisa|berhasil|boleh)~3 (?:dikirim|terkirim|disampaikan|dihantar|mengirim)|gagal~1 (?:dikirim|terkirim|mengirim|dihantar)",
    ),
    delayed: rule("tertunda|ditunda|belum~2 (?:terkirim|dikirim)|akan~2 (?:dicoba|mencoba)~1 lagi"),
    givenUp: rule("permanen|tidak akan~1 (?:dicoba|mencoba)"),
  },
};
