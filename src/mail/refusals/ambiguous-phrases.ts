/**
 * "The recipient does not exist, or you may not write to it", in many languages: such a reply does not prove that the
 * address is wrong. The patterns are for text without accents, as in phrases-by-language.ts.
 */
import { withShortEndings } from "./phrases-by-language.ts";

interface Doubt {
  /** The mailbox does not exist, or may not exist. */
  readonly absent: string;
  readonly or: string;
  /** The sender may not write to it. */
  readonly denied: string;
}

/** The parts of the sentence by language. */
const DOUBTS: readonly Doubt[] = [
  {
    absent:
      "(?:not|never|\\w+n't)(?: \\w+)? exist\\w*|unknown|not (?:be )?(?:found|known|valid|recogni[sz]ed|active)|\\w+n't (?:be )?(?:found|known|valid|recogni[sz]ed)|no such|invalid|non-?existent|unavailable|not available|no longer (?:exists?|valid|active)|inexistent|does not \\w+ a mail ?box",
    or: "(?:and ?/ ?)?or|either",
    denied:
      "permissions?|permit\\w*|allow\\w*|authori[sz]\\w+|access|rights?|privileges?|denied|forbid\\w*|restrict\\w+|(?:may not|cannot|can't|unable to|not able to) (?:write|post|send|mail|reach|contact|receive|accept)\\w*|(?:not|n't) (?:accept|want)\\w*|refus\\w+|(?:rejected|blocked|refused) (?:by|for|due|your|you|us|the sender)|command rejected|polic(?:y|ies)|blocked|relay\\w*|members? only|closed to",
  },
  {
    absent:
      "existier\\w*|unbekannt\\w*|nicht (?:\\w+ )?(?:gefunden|vorhanden|bekannt|gibt|gultig)|(?:gibt es|es gibt)(?: \\w+){0,3} (?:nicht|kein\\w*)|kein\\w* (?:solche\\w*|gultige\\w*)|ungultig\\w*",
    or: "oder",
    denied:
      "\\w*berechtig\\w*|erlaub\\w*|befugt|zugriff\\w*|rechte?|darf\\w*|durfen|zugelassen|gestattet|verweiger\\w*|abgelehnt|gesperrt|genehmig\\w*",
  },
  {
    absent:
      "n'exist\\w*|(?:pas|plus) (?:exister|trouvee?|(?:pu )?etre trouvee?|connue?|valide)|(?:pas|plus) ete trouvee?|aucun\\w* (?:destinataire|utilisateur|compte|adresse)|inexist\\w*|inconnue?s?|introuvables?|invalides?",
    or: "ou(?: bien)?|soit",
    denied: "autoris\\w*|permission\\w*|droits?|acces|refus\\w*|interdi\\w*|pouvez|permet\\w*|bloque\\w*",
  },
  {
    absent:
      "(?:no|ya no) (?:exist\\w*|se (?:encuentra|encontro|ha encontrado|pudo encontrar|reconoce)|(?:ha sido |fue |pudo ser |ha podido ser )?encontrad[oa]|hay ningun\\w*)|inexistente|desconocid[oa]|invalid[oa]|no (?:es )?valid[oa]",
    or: "o(?: bien)?|u",
    denied:
      "permis\\w*|autoriza\\w*|acceso|derechos?|permit\\w*|denegad[oa]|bloquead[oa]|rechazad[oa]|pued\\w+ (?:escribir|enviar|publicar)\\w*|habilitad[oa]",
  },
  {
    absent:
      "non (?:(?:e |piu )?(?:stat[oa] |possibile )?(?:trovat[oa]|trovare)|(?:e |piu )?(?:esist\\w*|valid[oa])|si trova|risulta)|nessun\\w* (?:destinatario|utente|indirizzo)|inesistente|sconosciut[oa]|introvabile|non riconosciut[oa]",
    or: "o(?:ppure)?",
    denied:
      "autorizza\\w*|permess\\w*|access\\w*|diritt\\w*|consentit[oa]|negat[oa]|bloccat[oa]|rifiutat[oa]|(?:puo|puoi|possibile|potete) (?:scriver|inviar)\\w*",
  },
  {
    absent:
      "nao (?:exist\\w*|(?:foi |pode ser  )?(?:encontrad[oa]|localizad[oa])|ha \\w+|(?:e )?valid[oa])|nenhum\\w* (?:destinatari[oa]|usuari[oa])|inexistente|desconhecid[oa]|invalid[oa]",
    or: "ou",
    denied:
      "permiss\\w*|autoriza\\w*|acesso|direitos?|permit\\w*|negad[oa]|bloquead[oa]|recusad[oa]|pod\\w+ (?:escrever|enviar|publicar)",
  },
  {
    absent:
      "bestaat(?: \\w+)? niet|niet(?: \\w+)? besta\\w*|onbekend\\w*|niet (?:\\w+ )?(?:gevonden|bekend|geldig|vinden)|geen (?:\\w+ )?(?:ontvanger|gebruiker|adres)|ongeldig\\w*",
    or: "of(?:wel)?|dan wel",
    denied:
      "gemachtigd|machtiging\\w*|toegestaan|toestemming|bevoegd\\w*|recht(?:en)?|toegang|mag|mogen|mogt|geweigerd|geblokkeerd|rechten",
  },
  {
    absent:
      "nie (?:\\w+ )?istni\\w*|nieznan\\w*|nie (?:\\w+ )?(?:znalezion\\w*|znalezc|odnalezion\\w*|ma takie\\w*|jest znan\\w*)|brak (?:takie\\w*|odbiorcy|adresata)|nieprawidlow\\w*",
    or: "lub|albo|badz",
    denied:
      "uprawn\\w*|zezwol\\w*|pozwol\\w*|dostep\\w*|praw[ao]?|moz(?:esz|ecie|na)(?: do niego| do niej)? (?:pisac|wysylac|wyslac)|zablokowan\\w*|odmow\\w*",
  },
  {
    absent:
      "neexist\\w*|nenalez\\w*|nenajden\\w*|nenasiel\\w*|neznam\\w*|neplatn\\w*|(?:nebyl\\w*|nebol\\w*|neni|nie je|nelze|nemoze byt|nemohl\\w* byt)(?: \\w+){0,2} (?:nalez\\w*|najden\\w*|najst\\w*|znam\\w*|platn\\w*)|zadn\\w+ takov\\w*|ziadn\\w+ tak\\w*",
    or: "nebo|anebo|alebo",
    denied:
      "opravnen\\w*|povolen\\w*|pristup\\w*|prav[oau]|nemuze\\w*|nemozete|nesmi\\w*|nesmie\\w*|zakazan\\w*|odepren\\w*|odoprety\\w*|odmietnut\\w*|zamitnut\\w*|blokovan\\w*",
  },
  {
    absent:
      "(?:finns?|existerar|findes|eksisterer|finnes) (?:kanske |maske |muligens )?(?:inte|ej|ikke)|(?:inte|ej|ikke|icke) (?:\\w+ )?(?:finns|existerar|findes|eksisterer|finnes|hittas|hittats|hittades|funnen|fundet|funnet|kand|kendt|kjent|giltig|gyldig)|(?:hittade|hittades|hittas|hittar|fandt|fant|finder|finner|kan) (?:inte|ej|ikke)|finns (?:ingen|inget)|(?:findes|finnes) (?:ingen|intet)|okand\\w*|ukendt\\w*|ukjent\\w*|ogiltig\\w*|ugyldig\\w*",
    or: "eller",
    denied:
      "behorig\\w*|tillat\\w*|tillst\\w*|rattighet\\w*|ratt|tilladelse|tilladt|adgang|rettighet\\w*|tillatelse|tillatt|tilgang|atkomst\\w*|far (?:inte|ej|ikke)|saknar|nekad\\w*|naegtet|nektet|forbud\\w*|forbjud\\w*|blocker\\w*|blokker\\w*|blokeret|ma ikke|kan (?:ikke|inte) (?:skrive|skriva|sende|skicka)",
  },
  {
    absent:
      "(?:ei|eivat) (?:ehka |enaa )?(?:ole|loyd\\w*|loyty\\w*|tunn\\w*)|tuntema\\w+|virheelli\\w+|kelpaama\\w+",
    or: "tai",
    denied:
      "\\w*oikeu\\w*|lupa\\w*|luvan|sallit\\w*|sallittu|estet\\w*|esty\\w*|kielle\\w*|et saa|ei saa|et voi (?:lahettaa|kirjoittaa)|paasy\\w*",
  },
  {
    absent:
      "nem (?:\\w+ )?letez\\w*|ismeretlen|nem (?:\\w+ )?(?:talal\\w*|ismert|ervenyes)|nincs (?:ilyen|meg)|ervenytelen",
    or: "vagy",
    denied: "jogosult\\w*|engedely\\w*|jog\\w*|hozzafer\\w*|tilt\\w*|megtagad\\w*|nem (?:irhat|kuldhet)\\w*",
  },
  {
    absent: "mevcut (?:degil|olmayabilir)|bulun(?:a)?m\\w*|bilinm\\w*|gecersiz|yok|taninm\\w*",
    or: "veya|ya da|yahut",
    denied: "izin\\w*|izn\\w*|yetki\\w*|hakki\\w*|eris\\w*|engel\\w*|yasak\\w*|reddedil\\w*",
  },
  {
    absent:
      "nu (?:mai )?(?:exist\\w*|(?:a fost|poate fi|a putut fi|este) (?:gasit\\w*|valid\\w*|cunoscut\\w*)|s-a gasit)|niciun|inexistent\\w*|necunoscut\\w*|nevalid\\w*|invalid\\w*",
    or: "sau|ori",
    denied:
      "permis\\w*|permit\\w*|autoriz\\w*|acces\\w*|drept\\w*|interzis\\w*|refuzat\\w*|puteti (?:scrie|trimite)",
  },
  {
    absent:
      "не (?:(?:был\\p{L}*|було|удалось|вдалося|уда\\p{L}*|смогли|является|є|быў) )?(?:существ|найд|найт|знайд|знайт|знойдз|існу|обнаруж|зарегистрирован|зареєстрован|действител|дійсн)\\p{L}*|нет (?:так|получател|адресат|пользовател)\\p{L}*|(?:немає|няма|нема) (?:так|одержувач|отримувач|користувач)\\p{L}*|отсутству\\p{L}*|відсутн\\p{L}*|неизвест\\p{L}*|невідом\\p{L}*|невядом\\p{L}*|недействител\\p{L}*|недійсн\\p{L}*|неверн\\p{L}*",
    or: "или|либо|або|чи|ці",
    denied:
      "разреш\\p{L}*|прав(?:а|о|)?|доступ\\p{L}*|запрещ\\p{L}*|дозв\\p{L}*|дазвол\\p{L}*|заблокир\\p{L}*|нельзя|не можна|недоступ\\p{L}*|заборон\\p{L}*|отказан\\p{L}*|відмовлен\\p{L}*|(?:може|можа)(?:те|ш|шь|це) (?:(?:ему|ей|йому|туда|туди) )?(?:писать|отправлять|писати|надсилати|пісаць)",
  },
  {
    absent:
      "δεν (?:υπαρχ|βρεθηκ|εντοπιστηκ|αναγνωριζ|ειναι εγκυρ|μπορει να βρεθ)\\p{L}*|αγνωστ\\p{L}*|ανυπαρκτ\\p{L}*|μη εγκυρ\\p{L}*|ακυρ\\p{L}*",
    or: "η|ειτε",
    denied:
      "αδεια\\p{L}*|δικαιωμα\\p{L}*|επιτρεπ\\p{L}*|προσβαση\\p{L}*|εξουσιοδοτ\\p{L}*|απαγορευ\\p{L}*|δεν μπορειτε να (?:γραψ|στειλ)\\p{L}*",
  },
  {
    absent:
      "no existei(?:x|xi)|no s'ha (?:pogut )?troba[tr]\\w*|no (?:\\w+ )?valid[oa]?|inexistent|desconegu\\w+|invalid\\w*",
    or: "o|o be",
    denied: "permis\\w*|autoritz\\w*|acces\\w*|dret\\w*|no (?:pot|podeu) (?:escriure|enviar)",
  },
  {
    absent:
      "(?:ne|mozda ne|ni) (?:postoji|obstaja)|(?:nije|nisu) (?:\\w+ )?(?:prona\\w+|nad\\w+|poznat\\w*|valjan\\w*)|ni (?:\\w+ )?(?:najden\\w*|najti|znan\\w*|veljav\\w*)|nema takv\\w*|nepoznat\\w*|neznan\\w*|nevazec\\w*|nevaljan\\w*|neveljav\\w*|nepostojec\\w*",
    or: "ili|ali(?: pa)?",
    denied:
      "dopusten\\w*|dozvol\\w*|dozvoljen\\w*|ovlas\\w*|dovoljen\\w*|pooblas\\w*|prav(?:[oaieu]|ic\\w*)|pristup\\w*|dostop\\w*|zabranj\\w*|prepoved\\w*|blokiran\\w*|ne smete|ne smijete|ne mozete|ne morete",
  },
  {
    absent:
      "(?:не|не може да|може да не) (?:съществува|постоји|постои)|(?:не|није) (?:(?:е|беше|бе|бил\\p{L}*|са) )?(?:намерен|пронајден|пронађен|познат|открит|валид|вали)\\p{L}*|няма такъв|неизвест\\p{L}*|непознат\\p{L}*|невалид\\p{L}*",
    or: "или(?: пък)?",
    denied:
      "разрешени\\p{L}*|позволен\\p{L}*|прав[оа]|достъп\\p{L}*|дозвол\\p{L}*|приступ\\p{L}*|пристап\\p{L}*|забран\\p{L}*|не (?:може|смее|смете|можете) да (?:пиш|изпра|испра)\\p{L}*",
  },
  {
    absent:
      "neegzistuo\\w+|(?:ne|nebuvo )rast\\w+|nezinom\\w*|neeksiste\\w*|nav (?:atrast|atrod|zinam|derig)\\w*|nezinam\\w*|puudub|tundmatu|(?:ei ole|pole|ei) (?:eksisteeri|leitud|leitav|olemas|teada|kehtiv)|ei leitud|kehtetu",
    or: "arba|vai|voi",
    denied:
      "leidim\\w*|teis\\w*|prieig\\w*|draudzi\\w*|uzdraust\\w*|atlauj\\w*|tiesib\\w*|piee?j\\w*|piekluv\\w*|aizlieg\\w*|luba\\w*|lubatud|oigus\\w*|juurdepaas\\w*|keelatud",
  },
  {
    absent:
      "tidak (?:ada|ditemukan|terdaftar|dikenal|dikenali|valid|wujud|dijumpai|sah)|tiada|khong (?:ton tai|tim thay|hop le|xac dinh)|chua (?:dang ky|ton tai)",
    or: "atau|hoac",
    denied:
      "izin|akses|hak|diizinkan|kebenaran|dibenarkan|ditolak|dilarang|diblokir|disekat|quyen|phep|duoc phep|tu choi|bi chan",
  },
  {
    absent:
      "(?:לא|אינה|אינו|איננו) (?:(?:קיים|קיימת)|נמצא\\p{L}*|ידוע\\p{L}*|מוכר\\p{L}*|תקינ\\p{L}*|תקין)|אין (?:נמען|משתמש)|غير (?:موجود|معروف|صالح)\\p{L}*|لا يوجد|ليس موجود\\p{L}*|(?:لم يتم|تعذر) (?:العثور|إيجاد)\\p{L}*|لم (?:نعثر|يعثر|نجد)|وجود ندارد|(?:یافت|پیدا) نشد|یافت نمی\\S*|ناشناخته|نامعتبر|موجود نہیں|نہیں ملا",
    or: "או|أو|او|یا|أم",
    denied:
      "הרשא\\p{L}*|רשאי\\p{L}*|מורש\\p{L}*|גישה|זכות|אסור|נחסמ\\p{L}*|\\p{L}{0,6}(?:إذن|صلاحي|مسموح|يسمح|تصريح|وصول|مخول|محظور|ممنوع|حق)\\p{L}{0,6}|مجوز|اجازه|دسترسی|مجاز|اجازت|رسائی",
  },
  {
    absent:
      "(?:er|eru) ekki (?:til|skrad\\p{L}*|gild\\p{L}*|thekkt\\p{L}*|þekkt\\p{L}*)|(?:fannst|finnst|fundust) ekki|ekki (?:til|fundi\\p{L}*)|o(?:þ|th)ekkt\\p{L}*|ogild\\p{L}*|enginn (?:vidtakandi|notandi)",
    or: "eda(?: þa)?|ella",
    denied:
      "heimild\\p{L}*|heimilt|heimilad\\p{L}*|leyfi\\p{L}*|leyfilegt|leyft|adgang\\p{L}*|rettind\\p{L}*|rett|matt ekki|ma ekki|getur ekki (?:skrifad|sent)|bannad\\p{L}*|hafnad|lokad",
  },
  {
    absent: "ez da (?:existitzen|aurkitu|ezagutzen)|ezezagun\\p{L}*|baliogabe\\p{L}*|ez dago",
    or: "edo|ala",
    denied: "baimen\\p{L}*|eskubide\\p{L}*|sarbide\\p{L}*|debekat\\p{L}*|ezin duzu",
  },
  {
    absent: "non (?:existe|foi atopad[oa]|se atopou|atopad[oa]|valid[oa])|inexistente|desconecid[oa]",
    or: "ou",
    denied: "permis\\p{L}*|autoriza\\p{L}*|acceso|dereito\\p{L}*|pode (?:escribir|enviar)|denegad[oa]",
  },
  {
    absent:
      "nuk (?:ekziston|u gjet\\p{L}*|eshte (?:i|e) vlefshem|njihet)|(?:i|e) panjohur|(?:i|e) pavlefshem",
    or: "ose|apo",
    denied: "leje\\p{L}*|qasje\\p{L}*|akses\\p{L}*|autoriz\\p{L}*|te drejt\\p{L}*|lejohe\\p{L}*|ndalu\\p{L}*",
  },
  {
    absent: "movcud (?:deyil\\p{L}*|olma\\p{L}*)|tapilmadi|namelum|naməlum|yoxdur|etibarsiz\\p{L}*",
    or: "v[eə] ya(?:xud)?|yaxud|ya da",
    denied: "icaz\\p{L}*|girisi\\p{L}*|huqu[qg]\\p{L}*|selahiyyet\\p{L}*|səlahiyyət\\p{L}*|qadagan\\p{L}*",
  },
  {
    absent: "არ (?:არსებობ|მოიძებნ|არის)\\p{L}*|ვერ მოიძებნ\\p{L}*|უცნობ\\p{L}*|არასწორ\\p{L}*",
    or: "ან|თუ",
    denied: "უფლებ\\p{L}*|ნებართვ\\p{L}*|წვდომ\\p{L}*|აკრძალ\\p{L}*",
  },
  {
    absent: "գոյություն չուն\\p{L}*|չի գտնվ\\p{L}*|չգտնվ\\p{L}*|անհայտ\\p{L}*|անվավեր\\p{L}*",
    or: "կամ",
    denied: "թույլտվ\\p{L}*|իրավունք\\p{L}*|մուտք\\p{L}*|արգել\\p{L}*|թույլատր\\p{L}*",
  },
  {
    absent:
      "bestaan nie|nie gevind\\p{L}*|onbekend|ongeldig|nid yw(?:'r)?(?: \\p{L}+){0,3} (?:bodoli|hysbys)|heb ei ganfod|anhysbys|nil(?: \\p{L}+){0,4} ann|nior aimsiodh|anaithnid|hindi (?:umiiral|nahanap|makita|natagpuan)|walang ganyang|hayupo|hayuko|haipo|haikupatikana|hakupatikana|haijulikani",
    or: "of|neu|no|o|au",
    denied:
      "toestemming|toegang|reg|mag nie|ganiatad|caniatad|hawl|mynediad|cead|rochtain|cheadaitear|pahintulot|access|karapatan|pinapayagan|ruhusa|ruhusiwi|idhini|ufikiaji",
  },
  {
    absent:
      "жоқ|табылмады|белгісіз|топилмади|мавжуд эмас|жараксыз|mavjud emas|topilmadi|noma'lum|олдсонгүй|байхгүй",
    or: "немесе|же|ёки|yoki|эсвэл",
    denied:
      "рұқсат\\p{L}*|құқы\\p{L}*|уруксат\\p{L}*|рухсат\\p{L}*|ruxsat\\p{L}*|huquq\\p{L}*|kirish\\p{L}*|зөвшөөр\\p{L}*|эрх\\p{L}*",
  },
];
/** The same for languages without blanks between words. */
const DOUBTS_WITHOUT_BLANKS =
  /(?:存在し(?:ない|ません|て(?:いない|いません|おらず))|見つから(?:ない|ず)|見つかりません|見つけられません|不明|無効)[^。]{0,40}(?:か|または|もしくは|あるいは|若しくは|又は)[^。]{0,40}(?:権限|権利|権が|アクセス|許可|許されて|拒否|禁止)|(?:存在しません|見つかりません|不明です|無効です)。 ?(?:または|もしくは|あるいは|又は)[^。]{0,40}(?:権限|アクセス|許可|拒否|禁止)|(?:不存在|未找到|找不到|没找到|沒找到|查无|查無|没有|沒有|无此|無此|未知|无效|無效)[^。]{0,30}(?:或|或者|还是|，也可能|可能)[^。]{0,30}(?:权限|權限|许可|許可|允许|允許|无权|無權|拒绝|拒絕|访问|存取|授权|授權|不能(?:写|发)|禁止)|(?:존재하지|찾을 수 없|없는|없|알 수 없)[^.]{0,20}(?:거나|또는|혹은|이거나)[^.]{0,40}(?:권한|허용|허가|거부|접근|액세스|금지)|(?:ไม่มี|ไม่พบ|ไม่รู้จัก|ไม่ถูกต้อง)[^.]{0,40}(?:หรือ)[^.]{0,40}(?:สิทธิ์|สิทธิ|อนุญาต|เข้าถึง|ปฏิเสธ)|(?:मौजूद नहीं|नहीं मिला|नहीं मिली|अज्ञात|अमान्य|नहीं है)[^.।]{0,30} या [^.।]{0,40}(?:अनुमति|अधिकार|पहुँच|पहुंच|निषिद्ध)|(?:নেই|পাওয়া যায়নি|অজানা)[^.।]{0,30} (?:বা|অথবা) [^.।]{0,40}(?:অনুমতি|অধিকার|প্রবেশাধিকার)|(?:இல்லை|காணப்படவில்லை)[^.]{0,30} அல்லது [^.]{0,40}(?:அனுமதி|உரிமை|அணுகல்)|(?:లేదు|లేరు|కనుగొనబడలేదు)[^.]{0,30} లేదా [^.]{0,40}(?:అనుమతి|హక్కు|ప్రాప్యత)/u;

/** Patterns of the whole sentence: absent or denied, in either order. */
export const AMBIGUOUS: readonly RegExp[] = [
  ...DOUBTS.map(({ absent, or, denied }) => ({
    absent: withShortEndings(absent),
    or,
    denied: withShortEndings(denied),
  })).flatMap(({ absent, or, denied }) => [
    new RegExp(
      `(?:${absent})(?!\\p{L})[^.!?;]{0,120}(?<!\\p{L})(?:${or})(?!\\p{L})[^.!?;]{0,120}(?<!\\p{L})(?:${denied})(?!\\p{L})`,
      "u",
    ),
    new RegExp(
      `(?:${denied})(?!\\p{L})[^.!?;]{0,120}(?<!\\p{L})(?:${or})(?!\\p{L})[^.!?;]{0,60}(?<![\\p{L}'])(?:${absent})(?!\\p{L})`,
      "u",
    ),
  ]),
  DOUBTS_WITHOUT_BLANKS,
];
