/**
 * The words in names of columns that say who wants mail and who does not, by kind, in about thirty languages. This is
 * data for phrase-meaning.ts. A star stands for any ending.
 */

export type WordKind =
  | "mail"
  | "letter"
  | "consent"
  | "wish"
  | "on"
  | "off"
  | "refusal"
  | "negation"
  | "unsubscribed"
  | "bounced"
  | "complained"
  | "list"
  | "filler";

export const vocabulary: readonly (readonly [WordKind, string])[] = [
  [
    // Mail of any kind: alone, such a name is that of an address.
    "mail",
    `email* mail mails emailing* eposta* epost mejl* correo* correu courriel* courrier* post posta posty poštu pošty
    promo promos promotion* promoción* promoción promozion* promoc* promocyjn* promocijsk* promotionnel* promotional
    marketing* marknadsföring* markedsføring* markkinointi* communication* comunica* kommunikation* kommunikasjon* komunikac*
    dm edm announcement* bulletin* kontakt kontaktier* kontaktaufnahme contacter contactar contattare contacteren
    comercial* commercial* commerciali commerciales handlow* obchodní* komerčn* kereskedelmi маркетинг* почт* письм* пошт* имейл*
    メール mailmagazine お知らせ 案内 邮件 郵件 电邮 電郵 邮箱 电子邮件 電子郵件 营销 營銷 行銷 推广 推廣 促销 促銷 通知 이메일 메일 전자우편 마케팅 홍보 알림
    البريد بريد הדוור דואל דיוור อีเมล`,
  ],
  [
    // Bulk mail: alone, such a name asks whether the person gets it.
    "letter",
    `newsletter* bulk bulkmail bulkemail mailing mailings notification* notifications updates offers ofertas angebote offres offerte mailinglist* mailingliste* rundschreiben infomail* infobrief* infolettre* lettreinfo
    lettredinformation werbung* werbe* werbemail* reklam* reklama reklame* reclame advert* advertising publicit* publicidad* pubblicità*
    publicidade* nieuwsbrief* nieuwsbrieven nyhetsbrev* nyhedsbrev* uutiskirje* mainos* boletín* boletin* boletines boletim* bollettin* biuletyn* zpravodaj*
    newslettr* hírlevél* hirlevel* reklám* bülten* bulteni kampanya* kampány* naujienlaišk* jaunum* uudiskir* glasilo
    рассылк* рассылок реклам* розсилк* розсилок бюлетин* ενημερωτικ* newsletteru newslettera buletin*
    メルマガ メールマガジン ニュースレター 広告 電子报 電子報 电子报 通讯 通訊 新闻信 广告 廣告 뉴스레터 소식지 광고 ניוזלטר عروض نشرة النشرة จดหมายข่าว`,
  ],
  [
    // Consent, which may be about something other than mail.
    "consent",
    `consent* permission* einwilligung* einwillig* zustimm* einverstand* consentement* consentimiento* consentimento* consens*
    toestemming* samtycke* samtykke* suostumu* zgod* zgadz* souhlas* súhlas* hozzájárul* acord acordul consimt* consimțământ* привол* privola* suglas* saglas*
    soglas* pristan* соглас* съгласи* згод* συγκατάθεσ* συναίνεσ* sutikim* piekriš* nõusolek* rıza* rızası onay* persetujuan*
    同意 承諾 동의 הסכמה موافقة ยินยอม gdpr dsgvo rgpd avg rodo lgpd`,
  ],
  [
    // Wanting, accepting, receiving: about mail only together with a word for it.
    "wish",
    `agree agrees agreed agreement accept accepts accepted accepting acceptance allow allows allowed allowing permit permits
    permitted authorise authorised authorize authorized authorization want wants wanted wish wishes wished like likes would receive receives
    receiving get gets getting optin optedin willing send sends enviar envoyer enviare inviare versenden schicken senden verzenden skicka approve approved approval granted can canreceive may eligible
    erlaub* erlaubnis genehmig* erwünscht* gewünscht* wünsch* wunsch möchte möchten will empfang* empfäng* erhalten erhält erhalt akzeptier*
    anmeldung anmelden angemeldet abonn* bezieh* bezug freigabe freigegeben zulässig darf zugesagt
    autoris* accepte accepter acceptez acceptes acceptation acceptée accord souhait* recevoir reçoit recoit inscri* veut désire daccord agré* volontaire
    acept* autoriz* permis* permite permitido dese* quiere querer recib* suscri* acuerdo suscripción
    accett* permess* desider* vuole ricev* iscri* iscrizione autorizz*
    aceit* permiss* quer recebe* receb* inscri* subscri*
    toegestaan toestaan akkoord accepteer* geaccepteerd wil wens* wenst ontvang* aanmeld* aangemeld ingeschreven inschrijv* gewenst
    godkän* godkend* godkjen* accepter* acceptera* tillåt* tillad* tillat* vill vil önska* ønske* prenumer* motta* modtag* tilmeld* påmeld* godta* anmäl*
    hyväksy* lupa sallit* sallii haluaa halua vastaanot* tilannut tilaaja
    akceptuj* akceptacja akceptac* pozwol* zezwol* chce chcę otrzymyw* otrzymuje zapis* subskry* życzy
    povol* přijím* prijím* přeje chci zasílán* zasielan* odběr* odber* přihlás* prihlás* prihlas*
    elfogad* engedély* feliratkoz* kíván* kér kér* kap kapjon szeretn*
    acceptă* acceptat doreș* doreste primeș* primi primeste primesc abona* înscri*
    dozvol* dovolj* želi* zeli* prijav* prima* pretpla* naroč* prejem*
    разреш* хочет хочу получ* подпис* одобр* принима* абонир* желае* получав* дозв* бажа* отрим* підпис*
    αποδοχ* αποδέχ* επιτρέπ* εγγραφ* εγγεγρ* επιθυμ* λήψη θέλ* λαμβάν*
    izin izni izinli kabul* istiyor ister istiyorum abone* almak alsın
    leid* prenumerat* atļauj* vēlas saņem* luba* tellinud soovi*
    setuju izinkan* ingin terima menerima berlangganan langganan nhận đồng phép đăng ký
    希望 許可 受信 購読 受取 受け取る 受け取り 配信 登録 申込 申し込み 送付 オプトイン 接收 订阅 訂閱 接受 允许 允許 许可 愿意 願意 收取 수신 구독 허용 희망 신청
    מאשר מסכים קבלת רשום يوافق موافق استلام تلقي مشترك ยอมรับ รับ`,
  ],
  [
    // A switch that is on.
    "on",
    `active aktiv aktive aktiver aktives actif active actifs activo activa attivo attiva ativo ativa actief actieve aktywn* aktivní* aktívn* aktivan
    aktivna aktif aktifmi aktiivi* aktyvus aktīvs aktiivne activ activă aktív active активен активна активный активн* ενεργ*
    activated aktiviert activé activée activado activada attivato attivata ativado ativada geactiveerd aktiverad aktiveret aktivert aktywowan*
    enabled enable eingeschaltet freigeschaltet habilitad* abilitat* ingeschakeld włączon* zapnut* povolen* engedélyezve etkin включен* включён увімкнен*
    confirmed confirm bestätigt confirmé* confirmée confirmad* confermat* bevestigd bekräftad* bekræftet bekreftet vahvistettu potwierdzon* potvrzen* potvrden* potvrđen* potrjen*
    megerősít* confirmat* onaylan* onaylı подтвержд* потвърд* підтвердж* επιβεβαιω* dikonfirmasi patvirtint* apstiprināt* kinnitatud
    verified verify verifiziert vérifié* verificad* verificat* geverifieerd verifierad verificeret verifisert zweryfikowan* ověřen* overen* provjeren* doğrulan* doğrulandı проверен* провер* перевірен* επαληθευ* terverifikasi validated validé* validad*
    valid gültig valide valable válid* valido valida geldig giltig gyldig platn* ważn* érvényes geçerli действит* valabil deliverable mailable reachable zustellbar erreichbar
    有効 認証済 認証済み 確認済 確認済み 承認済 启用 啟用 有效 激活 已激活 已确认 已確認 已验证 已驗證 活跃 활성 활성화 인증됨 인증 확인됨 유효 פעיל مفعل نشط ใช้งาน`,
  ],
  [
    // A switch that is off, or something removed.
    "off",
    `unconfirmed unverified unbestätigt* nonconfirmé* onbevestigd* obekräftad* niepotwierdzon* nepotvrzen* неподтвержд* unengaged inactive inactivated deactivate inaktiv* inactif* inactiv* inattiv* inativ* inactief inactieve nieaktywn* neaktivn* neaktívn* neaktyvus неактивн* pasif ανενεργ* epäaktiivi* inaktív*
    disabled disable deaktiviert désactiv* desactiv* disattiv* desativ* uitgeschakeld gedeactiveerd deactivat* deaktiver* inaktiverad wyłączon* vypnut* zakázan* letiltva devredışı отключен* отключён вимкнен* απενεργ*
    deleted delete trashed erased gelöscht entfernt supprimé* effacé* eliminad* borrad* suprimid* cancellat* eliminat* rimoss* excluíd* removid* apagad* verwijderd borttagen raderad slettet fjernet poistettu
    usunięt* smazan* odstraněn* vymazan* odstránen* törölt* törölve șters sters izbrisan* obrisan* silin* silindi удален* удалён видален* изтрит* διαγραμμέν* dihapus ištrint* dzēst* kustutatud
    removed remove quarantined suspended suspendiert suspendu* suspendid* sospes* opgeschort cancelled canceled cancel cancelado cancelada annulé* annullat* storniert geannuleerd avbeställd aflyst
    stop stopped stopp stoppen gestoppt archived archiviert archivé* archivad* archiviat* gearchiveerd arkiverad arkiveret banned ban suppress
    invalid ungültig ungueltig invalide* inválid* invalido ongeldig ugyldig ogiltig neplatn* nieważn* érvénytelen geçersiz недейств* invalide unreachable unerreichbar dead deceased verstorben décédé* fallecid* deceduto overleden avliden
    無効 削除 削除済 削除済み 解約 停止 無效 无效 删除 刪除 已删除 已刪除 停用 禁用 失效 비활성 비활성화 삭제 삭제됨 중지 무효 מחוק محذوف`,
  ],
  [
    // Consent that is denied or withdrawn.
    "refusal",
    `refuse refused refuses refusal decline declined declines denied deny denies object objects objected objection opposed opposes oppose rejected reject
    revoked revoke withdrawn withdraw withdrew prohibited forbidden unwanted unwilling
    abgelehnt ablehn* verweiger* widerspr* widersprochen widerruf* untersagt verboten unerwünscht* unterlassen refus* opposition opposé* interdi* rechaz* negado deneg* oposición prohib* rifiut* negat* revocat* vietat* recus* revog*
    geweigerd weiger* bezwaar ingetrokken nekad* avböjt* avböj* tackarnej avvis* nægtet frabedt frabed* reservert reservat* reserverad kieltä* kielt* kiello* odmow* odmaw* odmów* sprzeciw* odmít* odmiet* nesouhlas* nesúhlas* visszautas* elutasít* tilt* letilt* refuz*
    odbij* odbio zavrn* отказ* запрещ* запрет* відмов* заборон* απόρριψ* αρνείται αρνητικ* άρνηση red reddet* reddi reddediyor iptal* engelle* atsisak* atteik* keeld* tolak* menolak
    拒否 拒絶 お断り 不要 不可 拒绝 拒絕 反对 反對 不同意 不接受 거부 거절 안함 미동의 סירוב رفض`,
  ],
  [
    "negation",
    `no not non never dont doesnt donot kein keine keinen keinerlei nicht nie niemals ohne ne pas sans jamais sin sem senza não nao geen niet zonder nooit ingen inga inget inte ej aldri aldrig ikke utan uden uten ei ilman
    bez nie nechce nepřeje nem не нет без никогда ні nu fără hayır değil istemiyor istemiyorum yok ne nav nėra mitte tidak jangan không χωρίς όχι μη δεν 不 勿 別 别 無し なし しない 不希望 非 לא بدون لا ไม่`,
  ],
  [
    "unsubscribed",
    `unsubscri* unsub unsubs donotmail* nonsubscri* blacklist* blocklist* заблокир* заблоков* optout* optedout* signedoff signedout dnd donotdisturb robinson robinsonlist* robinsonliste* nomail nomails noemail noemails nonewsletter nospam
    abmeld* abgemeldet abbestell* austrag* ausgetragen werbesperre* mailsperre sperrliste* newslettersperre werbeverbot
    désinscri* désabonn* desabonn* stoppub baja bajas desuscri* darbaja disiscri* disdett* annullaiscrizione descadastr* cancelouinscrição
    afmeld* afgemeld uitgeschreven uitschrijv* uitschrijf* opgezegd opzegg* avprenumer* avregistr* avanmäl* avbeställt avslutad frameld* afmeldt* avmeld* avmeldt meldtfra meldtav peruut* peruttu poistunut
    wypis* rezygn* zrezygnow* odhlas* odhláš* odhlás* odhlášen* leiratkoz* dezabon* odjav* отпис* відпис* απεγγρ* διαγραφ* διεγράφ* abonelikten* ayrıld* abonelikiptal* atsisakė* atrakst* loobunu*
    配信停止 配信不可 配信拒否 配信解除 配信不要 受信拒否 受信不可 受信停止 購読解除 購読停止 登録解除 退会 解除 退订 退訂 已退订 已退訂 取消订阅 取消訂閱 拒收 拒收邮件 수신거부 수신거절 구독해지 구독취소 수신차단 הוסר ביטול إلغاء ألغى`,
  ],
  [
    "bounced",
    `undeliverable undelivered undeliverables bounces bouncing unzustellbar* unzustellbare onbestelbaar* nondistribu* nondélivr* rebotes rebotad* entregafallida
    rimbalz* nonconsegn* devolvid* studsa* returneret niedoręcz* nedoruč* kézbesíthetetlen недоставл* недоставк* ανεπίδοτ* teslimedilemey*
    不達 配信エラー エラー バウンス 退信 반송`,
  ],
  [
    "complained",
    `complaints spam spammed spammers beschwerde* beschwerden plainte plaintes queja quejas reclamaç* klacht* klachten klagomål жалоб* şikayet* arf fbl 迷惑メール 苦情 投诉 投訴`,
  ],
  [
    "list",
    `list lists liste listes lista listas listen lijst lijsten listan listen seznam zoznam список списка списку λίστα listeden リスト 一覧 名簿 データ 名单 名單 列表 数据 數據 명단 목록 데이터`,
  ],
  [
    "filler",
    `is has have had was were are did does do of from to the this our my your any all in e for and or with by via a an on at i we us you he she it they s d l t r
    user users customer customers member members person people subscriber subscribers recipient recipients contact contacts client clients kunde kunden kundin
    address addresses addr adresse adresses adres adresa adresy dirección indirizzo endereço flag bool boolean value status state yesno indicator field please news regular future further via through their them
    ist hat war wird wurde sich der die das den dem des ein eine einen von vom aus zu zum zur auf für über per und mit bei mir uns ich bitte mehr zusendung versand zustellung elektronische postalische
    est été a ont sest se le la les un une de du des au aux à par pour sur en et ou notre nos votre je vous nous plus envoi réception électronique
    es ha sido dado dada esta está fue el los las un una del por para con en y o nuestro nuestra me
    è stato stata si il lo gli i di da della dei dello alla al per su con nostre
    foi está os as do dos das na nos pelo pela por para com e em
    heeft zich is wordt werd het een van voor op aan naar met onze mij ik
    är har sig till från för på av att och om mig jag blev er fra til på af og jeg mig on hän
    jest ma się na do od przez w z ze o i oraz dla mnie je byl byla byl se si s k ke pro od zasílání
    a az és van lett egy nak hogy am ai din pe cu la este un o să la de sunt
    da li je su i u za na od sa se iz ово е са да за на от към и или в с до по у к об об о про щодо є від та
    το του της στο στα στην για από και είναι mi mu mı ile için ve e a den dan bir
    di ke dari untuk dengan có được
    の を に は が へ と で も から への による 済 済み 可 可否 有無 要否 設定 区分 フラグ する します 状態 状況 会員 者 是否 否 已 有 的 与 和 状态 狀態 用户 用戶 여부 를 을 은 는 이 가 의 에 함 됨 상태 회원 고객
    של על את הוא في على من إلى هل`,
  ],
];
