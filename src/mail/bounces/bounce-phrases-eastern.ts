/** Phrases of bounces in Eastern European languages. Data for delivery-state-in-text.ts. */
import { type BounceLanguage, frequentWords, phraseRule } from "./bounce-phrase-builders.ts";

export const EASTERN_NOTICES: Readonly<Record<string, BounceLanguage>> = {
  polish: {
    frequentWords: frequentWords(
      "nie sie do na jest wiadomosc zostala zostal pod adres z dla nastepujacych odbiorcy odbiorcow dostarczenie wiadomosci",
    ),
    failed: phraseRule(
      "nie~4 (?:dostarcz|doreczon|dorecz|wyslan|wyslac|przekazan|przeslan)",
      "niedostarcz|niedoreczon",
      "(?:blad|problem|niepowodzenie|bledy)~3 (?:dostarcz|dorecz|wysyl|przesyl)",
      "(?:dostarczenie|doreczenie|wyslanie)~4 (?:nie|niemozliwe|nieudane)|(?:dostarczenie|doreczenie|wyslanie)~7 nie (?:powiodlo|udalo)",
      "wiadomosc~6 (?:zwrocon|odrzucon)|zwrot (?:wiadomosci|poczty|do nadawcy)",
      "skrzynka~6 (?:pelna|przepelniona)",
      "(?:uzytkownik|odbiorca|adres|konto)~4 (?:nie istnieje|nieznan)|nieznany (?:uzytkownik|odbiorca|adres)",
    ),
    delayed: phraseRule(
      "opozni|opoznien|odroczon|wstrzyman",
      "jeszcze nie~3 (?:dostarcz|dorecz|zostal)|nie~3 jeszcze~2 (?:dostarcz|dorecz)",
      "(?:kolejn|ponown|dalsz|nastepn)\\w*~1 prob|prob\\w*~4 (?:kontynuowan|ponawian|ponowion|beda|bedzie)",
      "bedzie~3 (?:ponawia|probowa|podejmowa)|beda~3 (?:ponawia|podejmowa)",
      "nie (?:trzeba|musisz|ma potrzeby)~3 (?:ponownie|wysylac)|tylko ostrzezenie",
    ),
    givenUp: phraseRule(
      "trwal[ye]|ostateczn|zaprzesta|zrezygnowan",
      "nie (?:bedzie|beda)~3 (?:ponawian|dalsz|kolejn|podejmowan|probowa|ponownych)",
    ),
  },
  czech_slovak: {
    frequentWords: frequentWords(
      "se na nebo je vase zprava zpravu sprava spravu nebylo bylo nebola ktera pro pre ste nasledujici doruceni dorucenie prijemce",
    ),
    failed: phraseRule(
      "(?:nelze|nemohl|nebyl|nepodaril|neda|nie je mozne|nemoz|nebol|nepodari|nemohol)\\w*~6 (?:doruc|odesl|odosl|predat|predana)",
      "nedoruc",
      "(?:chyba|chyby|selhani|zlyhanie|problem)~3 (?:doruc|dorucen)|(?:doruceni|dorucenie)~4 (?:selhal|zlyhal|se nezdar|nebolo|neni mozne)",
      "(?:schranka|schranke)~3 (?:plna|preplnen)|(?:uzivatel|pouzivatel|prijemce|prijemca|adresa)~3 (?:neexistuje|neznam)",
    ),
    delayed: phraseRule(
      "zpozd|oneskor|zdrzen|odlozen",
      "(?:dosud|zatim|zatial|doposud|este|jeste)~2 (?:ne\\w+)",
      "(?:dalsi|dalsie|opakovan|opatovn)\\w*~1 (?:pokus|doruc)|pokus\\w*~4 (?:pokracov|opakov|budou|budu)|bude~3 (?:pokusat|pokouset|opakov)",
    ),
    givenUp: phraseRule(
      "trval[aeyou]|konecn|definitivn|(?:zadne|ziadne)~1 (?:dalsi|dalsie)~1 pokus|nebud\\w*~2 (?:pokus|opakov)|vzdal",
    ),
  },
  hungarian: {
    frequentWords: frequentWords(
      "nem az egy es a uzenet uzenetet level levelet kovetkezo cimzett cimre volt kezbesites cimzettek",
    ),
    failed: phraseRule(
      "nem~4 (?:kezbesit|tovabbit|elkuld|szallit|lehetett|sikerult)",
      "kezbesithetetlen|(?:kezbesites|kuldes|tovabbitas)\\w*~4 (?:sikertelen|meghiusul|nem sikerult|hiba)|sikertelen~1 (?:kezbesit|kuld)|kezbesitesi hiba|visszakuld",
      "(?:postafiok|fiok)\\w*~3 (?:megtelt|tele)|(?:felhasznalo|cimzett|cim)\\w*~3 (?:nem letezik|ismeretlen)",
    ),
    delayed: phraseRule(
      "kesik|kesleltet|kesedelm|kesese|keses(?![\\p{L}])",
      "(?:meg|eddig|egyelore)~1 nem~3 (?:kezbesit|tovabbit|sikerult|lehetett)",
      "ujra~1 ?(?:probal|megprobal|kiserl)|tovabbi~1 (?:probal|kiserlet)|(?:kiserlet|probal)\\w*~3 folytat|tovabbra is~3 (?:probal|kiserl)",
    ),
    givenUp: phraseRule("vegleges|tartos hiba|nem~1 (?:probal|kiserl)\\w*~1 (?:ujra|tovabb)|feladta"),
  },
  romanian: {
    frequentWords: frequentWords(
      "nu a fost mesajul mesaj catre pentru si la dumneavoastra dvs care nu este urmatorii destinatari livrarea",
    ),
    failed: phraseRule(
      "nu~4 (?:livrat|livra|trimis|trimite|expediat|transmis|furnizat)",
      "(?:esec|eroare|probleme?)~3 (?:livrar|trimiter|expedier)|livrare\\w*~8 (?:esuat|imposibil)|nelivrat",
      "(?:cutia|casuta)~4 plina|(?:utilizator|destinatar|adresa)\\w*~4 (?:necunoscut|inexistent|nu exista)",
    ),
    delayed: phraseRule(
      "intarzi|amanat",
      "inca nu~3 (?:livrat|fost|trimis)|nu~2 inca~2 (?:livrat|trimis)",
      "reincerc|incercari\\w*~4 (?:continua|repet)|(?:se va|vom|va)~2 (?:incerca din nou|incerca in continuare|continua)",
    ),
    givenUp: phraseRule("definitiv|permanent|nu se va (?:mai )?(?:re)?incerca|renuntat"),
  },
  south_slavic: {
    frequentWords: frequentWords(
      "nije nisu nisam bila bilo poruka poruku sporocilo sporocila je na vasa vase ni bilo",
    ),
    failed: phraseRule(
      "(?:nije|nisu|nemoguce|ni|niso)~5 (?:isporuc|dostav|poslan|poslat)",
      "neisporuc|nedostav|(?:greska|napaka)~3 (?:isporuk|dostav)|(?:isporuka|dostava)~4 (?:nije|ni uspel|neuspe)",
    ),
    delayed: phraseRule(
      "odgoden|odlozen|kasni|zakasn|zamuj|zamud|jos (?:uvijek |uvek )?nije|ponovn\\w*~1 (?:poku|posku)|(?:pokusa|poskus)\\w*~3 (?:nastav|ponov)",
    ),
    givenUp: phraseRule("trajn|konacn|dokonc|odusta|nece~2 (?:pokus|ponov)"),
  },
  serbian_macedonian: {
    frequentWords: null,
    failed: phraseRule(
      "(?:није|нису|не е|не беше)~5 (?:испоруч|достав|послат|испрат)|неуспе\\p{L}*~2 (?:испорук|достав)",
      "(?:испорука|достава|испораката|доставата)~6 (?:није успе|не успе|неуспе)",
    ),
    delayed: phraseRule(
      "одложен|касни|закасн|још (?:увек )?није|уште не|сѐ уште не|поново~2 покуша|покуша\\p{L}*~3 поново",
    ),
    givenUp: phraseRule("трајн|коначн|одуста|неће~2 (?:покуша|понов)"),
  },
  bulgarian: {
    frequentWords: null,
    failed: phraseRule(
      "не~4 (?:доставен|достави|изпратен|бъде доставен)",
      "доставк\\p{L}*~8 (?:неуспешн|не успя)|неуспешн\\p{L}* доставк|грешка при доставк|недоставен",
    ),
    delayed: phraseRule(
      "забав|закъсн|все още не|(?:опит)\\p{L}*~4 (?:продълж|повтор)|ще~2 (?:опита отново|продължи)",
    ),
    givenUp: phraseRule("окончателн|няма да~2 (?:опит|повтор)|постоянна грешка"),
  },
  russian: {
    frequentWords: null,
    failed: phraseRule(
      "не~4 (?:доставлен|доставить|доставля|отправлен|отправить|передан|передать|доставлять)",
      "недоставл|недоставк",
      "(?:ошибк|сбо[йея]|невозможн|неудач|проблем)\\p{L}*~4 (?:доставк|доставить|отправк|пересыл)",
      "доставк\\p{L}*~4 (?:не удал|невозможн|не выполнен|прекращен|неудач)",
      "(?:письмо|сообщение)~6 (?:возвращен|отклонен|не принят)|возвращен\\p{L}* отправител",
      "(?:ящик|почтов\\p{L}* ящик)~3 (?:переполнен|заполнен|отключен|не существует|не найден)",
      "(?:пользовател|адресат|получател|адрес)\\p{L}*~3 (?:не найден|не существует|неизвест)",
    ),
    delayed: phraseRule(
      "задерж|отложен",
      "(?:еще|пока|до сих пор)~1 не~3 (?:доставлен|доставить|отправлен|удалось)",
      "(?:попыт)\\p{L}*~5 (?:продолж|повтор|возобнов|будут|предприним)",
      "(?:повторн|дальнейш|следующ|новы|продолж)\\p{L}*~2 (?:попыт|пытать|доставл)",
      "(?:будет|будут|будем)~3 (?:повторен|повторять|пытаться|продолж)",
      "(?:только|лишь) предупреждени|не (?:нужно|требуется)~2 (?:повторно|отправлять)",
    ),
    givenUp: phraseRule(
      "окончательн|больше не буд|прекращен|отказались от",
      "(?:постоянн|неустраним|фатальн)\\p{L}* ошибк",
      "не буд\\p{L}*~3 (?:предприним|повтор|пытать|больше)|(?:дальнейших|новых|повторных)~1 попыток~2 не",
    ),
  },
  ukrainian: {
    frequentWords: null,
    failed: phraseRule(
      "не~4 (?:доставлен|доставити|надіслан|надіслати|відправлен|відправити)",
      "(?:помилк|збі[йю]|неможлив|невдач)\\p{L}*~4 (?:доставк|доставлен|доставит|надсилан)",
      "(?:скриньк)\\p{L}*~3 (?:переповнен)|(?:користувач|одержувач|адрес)\\p{L}*~3 (?:не знайден|не існу|невідом)",
    ),
    delayed: phraseRule(
      "затрим|відкладен",
      "(?:ще|поки|досі)~1 не~3 (?:доставлен|доставити|надіслан)",
      "спроб\\p{L}*~4 (?:продовж|повтор|будуть)|(?:повторн|подальш|наступн)\\p{L}*~1 спроб",
    ),
    givenUp: phraseRule("остаточн|більше не буд|припинен|не буд\\p{L}*~3 (?:повтор|спроб)"),
  },
  greek: {
    frequentWords: null,
    failed:
      /δεν (?:[^\s.]+ ){0,4}(?:παραδ|παράδ|αποστ|στάλ|σταλ|δυνατή|μπόρεσε)|αποτυχία (?:[^\s.]+ )?(?:παράδοσης|αποστολής)|αδυναμία (?:[^\s.]+ )?παράδοσης|παράδοση (?:[^\s.]+ ){0,8}(?:απέτυχε|δεν)|(?:χρήστης|παραλήπτης|διεύθυνση) (?:[^\s.]+ ){0,3}(?:δεν υπάρχει|άγνωστ)|γραμματοκιβώτιο (?:[^\s.]+ ){0,4}πλήρες/u,
    delayed:
      /καθυστ[εέ]ρ|δεν έχει (?:[^\s.]+ ){0,2}ακόμ|ακόμη δεν|ακόμα δεν|θα (?:[^\s.]+ ){0,3}(?:προσπαθ|συνεχ)/u,
    givenUp: /οριστικ|μόνιμ|δεν θα (?:[^\s.]+ ){0,2}(?:προσπαθ|επαναλ)/u,
  },
  lithuanian: {
    frequentWords: frequentWords(
      "jusu laiskas pranesimas zinute nebuvo buvo kad gavejui gavejams bus dar ir toliau pristatyti",
    ),
    failed: phraseRule(
      "nepavyko~4 (?:pristat|issiust|nusiust|perduo)|nepristatyt|nebuvo pristatyt|pristatym\\w*~6 (?:nepavyko|nesekm)",
      "neimanoma~2 (?:pristat|issiust)|(?:gavej|vartotoj|adres)\\w*~3 (?:neegzist|nerast|nezinom)|dezut\\w*~3 pilna",
    ),
    delayed: phraseRule(
      "veluoja|uzdels|atidet|dar~2 (?:nepristatyt|nebuvo)|bus bandoma|toliau band|band\\w*~2 dar karta",
    ),
    givenUp: phraseRule("galutin|nuolatin|nebebus bandoma|nutrauk"),
  },
  latvian: {
    frequentWords: frequentWords(
      "jusu zinojums zinojumu vestule nav vel tika adresatam adresatiem sanemejam uz un sim piegadat piegade",
    ),
    failed: phraseRule(
      "(?:neizdevas|nevar|nevareja|nav iespejams)~4 (?:piegad|nosut|nogad)|nav piegadat|nepiegad|piegade~6 neizdevas",
      "(?:adresat|lietotaj|sanemej|adrese)\\w*~3 (?:neeksiste|nav atrast|nezinam)|past(?:kaste|astite)\\w*~3 piln",
    ),
    delayed: phraseRule(
      "kave(?:jas|ta|sanas)|aizkav|vel nav|megin\\w*~2 velreiz|turpina\\w*~2 megin|atkartot",
    ),
    givenUp: phraseRule("galig|pastaviga|vairs~2 nemegin|partraukt"),
  },
  estonian: {
    frequentWords: frequentWords(
      "teie kiri kirja kirjale ei ole on veel ja saajale adressaadile adressaatidele sonum sonumit toimetada",
    ),
    failed: phraseRule(
      "(?:kohaletoimetami|kattetoimetami|saatmi|edastami)\\w*~8 (?:nurju|ebaonnestu)|ei~5 (?:kohale toimetada|edastada|saata)",
      "(?:kohale|katte) toimetamata|(?:saaja|kasutaja|aadress)\\w*~2 (?:ei eksisteeri|ei leitud|puudub|tundmatu)|postkast~3 tais",
    ),
    delayed: phraseRule(
      "viibi|hiline|ei ole veel|veel~2 (?:kohale|katte|edastatud)|proovi\\w*~3 uuesti|uuesti~1 proov",
    ),
    givenUp: phraseRule("loplik|pusiv|rohkem ei proovi|loobu"),
  },
};
