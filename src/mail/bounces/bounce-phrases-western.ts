/** Phrases of bounces in Western and Northern European languages. Data for delivery-state-in-text.ts. */
import { type BounceLanguage, frequentWords, phraseRule } from "./bounce-phrase-builders.ts";

export const WESTERN_NOTICES: Readonly<Record<string, BounceLanguage>> = {
  german: {
    frequentWords: frequentWords(
      "der die das nicht ihre ihrer ist und wurde konnte wird nachricht an zu folgende folgenden empfanger empfaenger zustellung ubermittlung",
    ),
    failed: phraseRule(
      "nicht~3 (?:zugestellt|zustell|ausgeliefert|aus?liefer|ubermittel|uebermittel|ubertrag|gesendet|versendet|versandt|weitergeleitet|angenommen|erreich)",
      "un(?:zu)?stellbar|unzustellbar",
      "(?:zustellung|auslieferung|ubermittlung|uebermittlung)~6 (?:fehlgeschlagen|schlug|gescheitert|nicht|unmoglich|abgelehnt|abgebrochen)",
      "fehler bei der \\w{0,12}(?:zustell|ubermitt|uebermitt|auslieferung)",
      "zustell\\w*fehler|zustellung fehlgeschlagen",
      "(?:nachricht|e-?mail|annahme|zustellung)~6 (?:verweigert|abgelehnt)",
      "(?:zuruck|zurueck)(?:gewiesen|geschickt|gesandt|gesendet)|abgewiesen",
      "(?:postfach|mailbox)~6 (?:voll|uberfullt|ueberfuellt)",
      "(?:empfanger|empfaenger|benutzer|adresse|postfach)~3 (?:unbekannt|existiert nicht|nicht (?:gefunden|bekannt|vorhanden))",
      "unbekannter? (?:empfanger|empfaenger|benutzer)",
    ),
    delayed: phraseRule(
      "(?:zustell)?verzoger|(?:zustell)?verzoeger|verspat|verspaet",
      "(?:noch|bisher|bislang)~1 nicht~3 (?:zugestellt|zustell|ausgeliefert|ubermittel|uebermittel|gesendet)",
      "(?:wird|werden|versuche)~6 (?:weiter(?:hin)?|erneut|nochmals|wieder|fortgesetzt)",
      "(?:weiterhin|erneut|weitere)~3 (?:zustell|versuch|zu senden|zuzustellen)",
      "zustellversuche~4 (?:fortgesetzt|unternommen|werden)",
      "nur (?:eine|als) warn",
      "(?:brauchen|mussen|muessen)~5 nicht (?:erneut|noch einmal|nochmals)",
    ),
    givenUp: phraseRule(
      "endgultig|endgueltig|dauerhaft|aufgegeben|eingestellt",
      "permanente[rn]? fehler",
      "(?:keine?|nicht)~1 (?:weiteren?|mehr|erneut|noch einmal)~3 (?:versuch|zustell|unternommen|zugestellt)",
    ),
  },
  dutch: {
    frequentWords: frequentWords(
      "het een niet uw van is de aan bericht kon werd zijn voor en volgende ontvanger ontvangers bezorging",
    ),
    failed: phraseRule(
      "niet~3 (?:bezorg|afgeleverd|afleveren|aflever|verzonden|verstuurd|besteld|doorgestuurd|worden bereikt|ontvangen)",
      "onbestelbaar|onbezorgbaar|niet-bezorg",
      "(?:bezorging|aflevering|levering|verzending)~8 (?:mislukt|niet gelukt|onmogelijk|geweigerd)",
      "(?:fout|probleem|problemen)~3 (?:bezorg|aflever|verzend)",
      "(?:postvak|mailbox|postbus)~6 vol(?![\\p{L}])",
      "(?:gebruiker|ontvanger|geadresseerde|adres)~4 (?:onbekend|bestaat niet|niet gevonden)|onbekende? (?:gebruiker|ontvanger)",
    ),
    delayed: phraseRule(
      "vertraag|vertraging|uitgesteld",
      "nog (?:steeds |altijd )?niet~3 (?:bezorg|afgeleverd|verzonden|verstuurd|gelukt)",
      "(?:wordt|worden|zal|zullen|blijft|blijven|we)~5 (?:opnieuw|nogmaals|verder)~3 (?:geprober|geprobeerd|prober|gepoogd|bezorg)",
      "(?:blijft|blijven|blijf)~3 (?:proberen|prober)|(?:prober|geprobeerd)\\w*~4 (?:opnieuw|nogmaals)",
      "pogingen~4 (?:voortgezet|gedaan|ondernomen)|(?:nieuwe|verdere) pogingen",
      "hoeft~5 niet~2 (?:opnieuw|nogmaals)|slechts een waarschuwing|alleen een waarschuwing",
    ),
    givenUp: phraseRule(
      "definitief|permanente?(?![\\p{L}])|blijvend|opgegeven",
      "geen (?:verdere|nieuwe|andere)~1 pogingen|niet (?:meer|opnieuw|nogmaals)~2 (?:geprobeerd|proberen|prober)",
    ),
  },
  french: {
    frequentWords: frequentWords(
      "le la les votre vos vous pas est ete une des du de pour aux suivant suivants destinataire destinataires remise livraison courrier",
    ),
    failed: phraseRule(
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
    delayed: phraseRule(
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
    givenUp: phraseRule(
      "definitive?(?:ment)?|permanente?(?![\\p{L}])|abandonn",
      "(?:aucune?|plus (?:de|d'))~1 ?(?:autre |nouvelle |nouvel )?(?:tentative|essai)",
      "ne (?:sera|seront|va|vont|retente|reessai|renouvel)\\w*~1 (?:pas|plus)",
    ),
  },
  spanish: {
    frequentWords: frequentWords(
      "el la los las su sus no se que para por mensaje correo ha del una siguiente siguientes destinatario destinatarios entrega",
    ),
    failed: phraseRule(
      "no (?:se |le )?(?:ha |han |pudo |pudieron |puede |pueden |fue |fueron |sera |hemos |es |ha sido )*(?:podido |posible |logrado )*(?:ser )?(?:entreg|envi|remit|repart|distribu|hacer llegar|transmit)",
      "no entregad|no entregable",
      "imposible~2 (?:entreg|envi|realizar la entrega|la entrega)",
      "(?:error|fallo|falla|problema|fracaso)s?~4 (?:entreg|envio|reparto)",
      "(?:entrega|envio)~5 (?:fallid|fallado|fallo|fracas|rechazad|no se)",
      "(?:mensaje|correo)~6 (?:devuelto|rechazado)|devuelto al remitente",
      "(?:buzon|casilla)~6 llen[oa]",
      "(?:usuario|destinatario|direccion|cuenta|buzon)~4 (?:desconocid|inexistente|no existe|no encontrad)",
    ),
    delayed: phraseRule(
      "retras(?:o|ad|os)|demora(?:d|do|da)?(?![\\p{L}])|aplazad|pospuest|diferid|en espera de",
      "(?:aun|todavia)~1 no~4 (?:entreg|envi|podido)",
      "no~4 (?:entreg\\w*|enviad\\w*|podido)~3 (?:aun|todavia)",
      "(?:segui|continua|volver|volvera|tratar|intentar)\\w*~4 (?:intent|tratando|reintent|a intentar|de nuevo|nuevamente|entregarlo|durante)",
      "(?:nuevos|mas|otros) intentos|(?:se |lo )?reintentar|intentos?~4 (?:continuar|prosegu|seguir)",
      "no~2 (?:necesario|necesita|falta)~3 (?:reenv|volver a|que vuelva)",
      "(?:solo|solamente|unicamente)~2 (?:una |de )?advertencia|mensaje de advertencia|es (?:solo )?un aviso",
    ),
    givenUp: phraseRule(
      "definitiv|permanente|abandon|ha (?:expirado|caducado)|se ha desistido",
      "no (?:se|lo|habra|volver)~3 (?:volver|reintentar|mas intentos|intentar|nuevos intentos|otros intentos|a intentar)",
    ),
  },
  catalan: {
    frequentWords: frequentWords(
      "el la els les no s'ha vostre seu missatge correu als al per del que destinatari destinataris",
    ),
    failed: phraseRule(
      "no~1 (?:s'ha|s'han|es|ha|hem)~2 (?:lliur|entreg|enviar|enviat)|lliurament~5 (?:fallat|fallit|impossible)",
      "(?:error|problema)~3 lliurament|bustia~4 plena|(?:usuari|destinatari|adreca)~3 (?:desconegu|no existeix|inexistent)",
    ),
    delayed: phraseRule(
      "endarrer|retard|ajorna|encara no~5 (?:lliur|entreg|enviat)|(?:tornara|seguira|continuara)~2 (?:intent|prova)",
    ),
    givenUp: phraseRule("definitiv|permanent|no es tornara|abandona"),
  },
  italian: {
    frequentWords: frequentWords(
      "il la di non del della che per stato messaggio e un al sono seguente seguenti destinatario destinatari consegna recapito",
    ),
    failed: phraseRule(
      "non (?:e |e' |sono |puo |ha |hanno |si |stat[oai] )*(?:possibile |potuto |riuscit[oa] )*(?:a |essere |stat[oai] )*(?:consegn|recapit|inviat|inviare|inoltr|spedi|trasmess|trasmett|raggiung)",
      "impossibile~2 (?:consegn|recapit|invi|inoltr|raggiung)",
      "(?:mancat[ao]|fallit[ao]|mancato) (?:consegna|recapito|invio)",
      "(?:errore|problema|errori|problemi)~3 (?:consegna|recapito|invio)",
      "(?:consegna|recapito|invio)~4 (?:fallit|non riuscit|impossibil|rifiutat)",
      "messaggio~6 (?:respinto|rifiutato|restituito)|non recapitat|non consegnat",
      "casella~6 piena",
      "(?:utente|destinatario|indirizzo|casella)~4 (?:sconosciut|inesistent|non esist|non trovat)",
    ),
    delayed: phraseRule(
      "ritard[oai]|ritardat|rinviat[oa]|posticipat|differit",
      "non~3 ancora~3 (?:consegn|recapit|inviat|stat)",
      "ancora non~3 (?:consegn|recapit|inviat)",
      "(?:verra|verranno|sara|saranno|continu\\w*|sistema|server)~5 (?:riprov|ritent|nuovamente|di nuovo|a tentare|tentare|provare|altri tentativi|ripetut)",
      "(?:ulteriori|nuovi|altri) tentativi|tentativi~4 (?:continu|prosegu|ripet)",
      "non~2 necessario~3 (?:rinvi|rispedi|reinvi|inviare)",
      "solo un(?:a)? (?:avviso|avvertimento|notifica di)|semplice avviso",
    ),
    givenUp: phraseRule(
      "definitiv|permanente?(?![\\p{L}])|abbandonat|scadut[oa]",
      "non~3 (?:altri|ulteriori|nuovi) tentativi|nessun~1 (?:altro |ulteriore )?tentativo|non~1 (?:ritenter|riprover|verra ritentat|verra riprovat)",
    ),
  },
  portuguese: {
    frequentWords: frequentWords(
      "nao sua seu foi para mensagem que uma ao ser do da pode seguinte seguintes destinatario destinatarios entrega",
    ),
    failed: phraseRule(
      "nao (?:foi |pode |pudo |podera |se |e |conseguiu |conseguimos |ha |sera )*(?:possivel |ser )*(?:entreg|envi|remet|transmit|encaminh)",
      "impossivel~2 (?:entreg|envi)",
      "(?:falha|erro|problema)s?~4 (?:entrega|envio|enviar|entregar)",
      "(?:entrega|envio)~4 (?:falhou|falha|fracass|rejeit|recus|nao)",
      "mensagem~6 (?:devolvid|rejeitad|recusad)|devolvida? ao remetente|nao entregue",
      "caixa~6 (?:cheia|lotada)",
      "(?:usuario|utilizador|destinatario|endereco|conta)~4 (?:desconhecid|inexistente|nao existe|nao encontrad)",
    ),
    delayed: phraseRule(
      "atras(?:o|ad)|adiad[oa]|demora(?:d)?(?![\\p{L}])|protelad",
      "ainda nao~4 (?:entreg|envi|foi)|nao~3 ainda~2 (?:entreg|envi)",
      "(?:continua|voltar|tentar|sera|serao|iremos|vamos)\\w*~4 (?:tentando|a tentar|tentar|novamente|de novo|tentada|tentativas)",
      "(?:novas?|outras) tentativas?|tentativas?~4 (?:continuar|prosseguir|serao feitas)",
      "nao~2 (?:necessario|precisa)~2 (?:reenvi|enviar)",
      "(?:apenas|somente)~1 (?:um )?aviso",
    ),
    givenUp: phraseRule(
      "definitiv|permanente|desist|abandon|expirou",
      "nao~3 (?:novas|mais|outras) tentativas|nao~1 (?:sera|serao|vamos|iremos) (?:mais )?(?:tenta|tentar)|nenhuma~1 (?:outra |nova )?tentativa",
    ),
  },
  swedish: {
    frequentWords: frequentWords(
      "inte till att ditt din har meddelandet meddelande kunde for och ett foljande mottagare leverans",
    ),
    failed: phraseRule(
      "(?:inte|ej)~3 (?:leverer|skick|sand|levereras|na fram)",
      "(?:leverans|utskick)\\w*~4 (?:misslyck|fel)|leveransfel|olevererbar",
      "(?:brevlada|postlada|inkorg)\\w*~3 full|(?:anvandaren?|mottagaren?|adressen?)~3 (?:finns inte|okand|hittades inte)",
    ),
    delayed: phraseRule(
      "forsena|fordroj|uppskjut",
      "(?:annu|fortfarande) inte~2 (?:leverer|skick)|inte~2 levererats an",
      "forsok\\w*~4 (?:fortsatt|goras|pagar|igen)|fortsatter~2 forsoka|forsoker igen|nya forsok",
    ),
    givenUp: phraseRule("permanent|gett upp|slutgiltig|inga (?:fler|fler|ytterligare)~1 forsok"),
  },
  danish_norwegian: {
    frequentWords: frequentWords(
      "ikke til din den blev ble kunne har meldingen meddelelsen og er for af av folgende modtagere mottakere levering",
    ),
    failed: phraseRule(
      "ikke~3 (?:lever|afleveret|afleveres|sendes|sendt|kommet frem)",
      "(?:levering|aflevering)\\w*~7 (?:mislyk|feil|fejl)|leveringsfe[ij]l|kan ikke leveres",
      "(?:postkasse|indbakke|innboks|postboks)\\w*~3 (?:full|fuld)|(?:bruker|bruger|modtager|mottaker|adresse)\\w*~3 (?:findes ikke|finnes ikke|ukendt|ukjent)",
    ),
    delayed: phraseRule(
      "forsink|udskudt|utsatt",
      "(?:endnu|enda|fortsatt|stadig)~1 ikke~2 (?:lever|sendt|blevet|blitt)|ikke~2 lever\\w* (?:enda|endnu)",
      "(?:forsok|forsog|prov)\\w*~4 (?:igen|igjen|fortsatt|fortsaet|pa ny|fortsetter)|(?:fortsaetter|fortsetter)~3 (?:forsog|forsok|prove)|nye? (?:forsok|forsog)",
    ),
    givenUp: phraseRule("permanent|opgivet|gitt opp|ingen flere~1 (?:forsok|forsog)|endelig"),
  },
  icelandic: {
    frequentWords: frequentWords(
      "ekki er var ad og til skilabod skilabodin postur var sent vidtakanda vidtakandi tolvupostur",
    ),
    failed: phraseRule(
      "ekki~5 (?:afhend|koma til skila|komid til skila)|afhending\\w*~4 (?:mistokst|tokst ekki)",
    ),
    delayed: phraseRule("seink|tafi?st|enn ekki~3 (?:afhen|sent)|reynt~2 aftur|reyna~2 aftur"),
    givenUp: phraseRule("varanleg|endanleg|ekki~2 reynt aftur"),
  },
  finnish: {
    frequentWords: frequentWords(
      "ei ole viesti viestia viestisi on ja vastaanottajalle seuraaville tai voitu toimitus vastaanottajille",
    ),
    failed: phraseRule(
      "ei~4 (?:toimit|lahet|valit|perille)",
      "(?:toimitus|toimittaminen|lahetys|lahettaminen)\\w*~4 (?:epaonnistu|ei onnistu|estynyt)",
      "postilaatikko\\w*~3 taynna|(?:kayttaja|vastaanottaja|osoite)\\w*~3 (?:ei (?:ole|loydy)|tuntematon)|palautettu lahettajalle",
    ),
    delayed: phraseRule(
      "viivasty|viive|myohasty",
      "ei~2 viela~3 (?:toimit|lahet|perille)|viela ei~3 (?:toimit|lahet)",
      "yrite\\w*~3 uudelleen|yritt\\w*~3 (?:uudelleen|edelleen|jatke)|uudelleenyrit|jatketaan",
    ),
    givenUp: phraseRule("pysyva|lopullis|ei (?:enaa )?yrite\\w*~1 (?:enaa|uudelleen)|luovutt"),
  },
};
