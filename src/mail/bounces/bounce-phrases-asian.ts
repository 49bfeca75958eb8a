/** Phrases of bounces in Asian languages. Data for delivery-state-in-text.ts. */
import { type BounceLanguage, phraseRule } from "./bounce-phrase-builders.ts";

export const ASIAN_NOTICES: Readonly<Record<string, BounceLanguage>> = {
  japanese: {
    frequentWords: null,
    failed:
      /(?:配信|送信|配達|配送|送達|転送|届け|お届け)(?:する)?(?:こと)?(?:が|は|に|も|を)?(?:行う(?:こと)?が)?(?:でき(?:ません|なかった|なく|ない|ず)|出来(?:ません|なかった)|失敗|不能|不可|エラー|されませんでした)|(?:届き|配信され|配達され|配送され|送信され|到達し|受信され)ませんでした|(?:不達|未達|未配信|不着)|(?:エラーメール|返送|差し戻|戻されま|拒否され)|(?:宛先|受信者|ユーザ|アドレス|受取人)[^。]{0,24}(?:存在し(?:ません|ない)|見つかりません|不明|無効)|(?:メールボックス|受信箱|容量)[^。]{0,16}(?:いっぱい|一杯|満杯|超過|超え|オーバー)/u,
    delayed:
      /遅延|遅れて|遅滞|保留(?:中|され)|まだ[^。]{0,24}(?:配信|届|配達|送信|送達)|再送(?:信)?(?:を|が)?(?:続け|試み|試行|行い|いたし|され|予定|します)|再試行(?:を|が)?(?:続け|行|いたし|され|中|します)|(?:引き続き|継続して|継続的)[^。]{0,20}(?:配信|配達|送信|送達|試)|(?:配信|送信)(?:の)?(?:試行|再試行)[^。]{0,8}(?:続|継続)|警告(?:メール|メッセージ)?(?:のみ|だけ)|再度(?:送信する|お送りいただく)必要は(?:あり|ござい)ません/u,
    givenUp:
      /断念|中止|打ち切|諦め|あきらめ|再送(?:信)?(?:は|を)?(?:行いません|いたしません|しません|されません)|再試行(?:は|を)?(?:行いません|しません)|これ以上|恒久的|永久|永続的/u,
  },
  chinese: {
    frequentWords: null,
    failed:
      /(?:无法|無法|未能|不能|没有|沒有|未|不)(?:被|成功|正常|将|將|把|此|您的|该|邮件|郵件|信件){0,4}(?:投递|投遞|送达|送達|递送|遞送|发送|發送|传递|傳遞|寄达|寄達|送出|投送|到达|到達|发出|傳送|传送)|(?:投递|投遞|发送|發送|递送|遞送|送达|送達|传送|傳送|寄送|投送)(?:给|給)?(?:邮件|郵件|时|時)?[^。，]{0,6}(?:失败|失敗|错误|錯誤|不成功|异常)|退信|退回|退件|拒收|被拒|(?:用户|用戶|使用者|邮箱|信箱|收件人|地址|帐号|帐户|账号|郵箱)[^。]{0,12}(?:不存在|已满|已滿|无效|無效|未找到|空间不足|被禁用)/u,
    delayed:
      /延迟|延遲|延误|延誤|推迟|暂缓|(?:尚未|还未|還未|还没|還沒|暂未|暫未|仍未)[^。]{0,8}(?:投递|投遞|送达|送達|递送|遞送|发送|發送|传递|成功|傳送)|(?:系统|系統|服务器|伺服器|我们|我們|将|將|会|會|继续|繼續)(?:在|于|於|继续|繼續|不断|定期|自动|自動|尝试|嘗試|重新){0,3}[^。请請]{0,6}(?:重试|重試|尝试|嘗試|重新投递|重新投遞|重新发送|重投|再次投递|再次投遞)|无需重(?:新)?发|不需要重(?:新)?发/u,
    givenUp:
      /放弃|放棄|不再(?:尝试|嘗試|重试|重試|投递|投遞|进行|進行)|不会(?:再|继续)|不會(?:再|繼續)|永久|停止(?:尝试|嘗試|投递|投遞|重试|重試)|最终(?:失败)?|最終(?:失敗)?/u,
  },
  korean: {
    frequentWords: null,
    failed:
      /(?:전송|전달|배달|발송|배송|보내)(?:을|를|이|가|에|은|는)? ?(?:할 수|하지|되지|될 수|지|수)? ?(?:못|않|없|실패|불가)|(?:전송|전달|배달|발송) ?(?:오류|에러|불능|불가)|반송|수신 ?거부|(?:사용자|수신자|주소|계정|메일함|편지함)[^.]{0,16}(?:존재하지 않|찾을 수 없|가득|초과|알 수 없)/u,
    delayed:
      /지연|아직[^.]{0,20}(?:전송|전달|배달|발송)|(?:재시도|다시 시도|재전송)(?:를|을)? ?(?:합니다|할 것|하겠|됩니다|될|예정|중|계속)|계속[^.]{0,12}시도/u,
    givenUp: /영구|더 이상[^.]{0,12}(?:시도|전송)|포기|중단/u,
  },
  thai: {
    frequentWords: null,
    failed:
      /ไม่สามารถ(?:จัด|นํา)?ส่ง|ส่ง(?:[^ ]{0,12})?(?:ไม่ได้|ไม่ถึง|ไม่ส[^ ]{1,3}เร็จ|ล้มเหลว)|การ(?:จัด|นํา)?ส่ง.{0,60}(?:ล้มเหลว|ไม่ส[^ ]{1,3}เร็จ)|กล่อง(?:จดหมาย|ข้อความ)[^ ]{0,20}เต็ม|(?:ไม่พบ|ไม่มี)(?:ผู้รับ|ผู้ใช้|ที่อยู่)/u,
    delayed: /ล่าช้า|ยังไม่(?:ได้|สามารถ|ถูก)?(?:จัด|นํา)?ส่ง|(?:ลอง|พยายาม)[^ ]{0,12}(?:อีกครั้ง|ต่อไป|ใหม่)/u,
    givenUp: /ถาวร|จะไม่(?:ลอง|พยายาม)/u,
  },
  vietnamese: {
    frequentWords: null,
    failed: phraseRule(
      "khong the (?:gui|chuyen|giao)|khong (?:gui|giao|chuyen) duoc|(?:gui|giao)~9 (?:that bai|khong thanh cong)",
    ),
    delayed: phraseRule("bi (?:tri hoan|cham)|chua (?:gui|giao|chuyen)~1 duoc|se (?:tiep tuc )?thu lai"),
    givenUp: phraseRule("vinh vien|se khong thu lai"),
  },
  indonesian: {
    frequentWords: null,
    failed: phraseRule(
      "tidak (?:dapat|bisa|berhasil|boleh)~3 (?:dikirim|terkirim|disampaikan|dihantar|mengirim)|pengiriman~6 gagal|gagal~1 (?:dikirim|terkirim|mengirim|dihantar)",
    ),
    delayed: phraseRule("tertunda|ditunda|belum~2 (?:terkirim|dikirim)|akan~2 (?:dicoba|mencoba)~1 lagi"),
    givenUp: phraseRule("permanen|tidak akan~1 (?:dicoba|mencoba)"),
  },
  turkish: {
    frequentWords: null,
    failed: phraseRule(
      "teslim ed(?:ilem|em)|gonderilem(?:edi|iyor)|iletilem(?:edi|iyor)|ulastirilam",
      "(?:teslim|gonderim|iletim|teslimat)\\w*~3 (?:basarisiz|hata)|(?:posta kutusu|gelen kutusu)~2 dolu|(?:kullanici|alici|adres)\\w*~3 (?:bulunamadi|mevcut degil)",
    ),
    delayed: phraseRule(
      "gecik(?:ti|me|iyor|tir|mis)|ertelendi",
      "henuz~3 (?:teslim|iletil|gonderil|ulas)",
      "(?:tekrar|yeniden)~1 den(?:en|iy|ey)|denem(?:eye|eler)~3 (?:devam|surecek|surdur)",
    ),
    givenUp: phraseRule("kalici|vazgecil|tekrar denenmeyecek|artik denenm|baska deneme"),
  },
  hebrew: {
    frequentWords: null,
    failed: /לא (?:\S+ ){0,2}(?:ניתן|נמסר|נשלח|הצליח|הגיע)|נכשל|כשל ב|לא נמסר/u,
    delayed: /עיכוב|מתעכב|מעוכב|טרם נ|ננסה|ינסה|ניסיונות נוספים/u,
    givenUp: /סופי|לצמיתות|לא ננסה|לא ינסה/u,
  },
  arabic: {
    frequentWords: null,
    failed: /(?:تعذر|تعذّر|لم يتم|فشل|لا يمكن|لم نتمكن)(?: \S+){0,3} (?:ال)?(?:تسليم|إرسال|توصيل|ارسال)/u,
    delayed: /تأخ|تأجيل|لم (?:يتم|تصل|تسلم)(?: \S+){0,3} بعد|إعادة المحاولة|ستستمر/u,
    givenUp: /نهائي|دائم|لن (?:تتم|نحاول|يتم)/u,
  },
  persian: {
    frequentWords: null,
    failed:
      /(?:تحویل|ارسال)(?: \S+){0,8} (?:نشد|نشده|ناموفق|نگردید|ممکن نیست)|(?:گیرنده|کاربر|آدرس|نشانی)(?: \S+){0,3} (?:یافت نشد|وجود ندارد)|صندوق(?: \S+){0,3} پر است/u,
    delayed: /تاخیر|هنوز(?: \S+){0,4} (?:تحویل|ارسال)|دوباره(?: \S+){0,2} (?:تلاش|ارسال)/u,
    givenUp: /دائمی|برای همیشه|دیگر(?: \S+){0,3} (?:نخواهد|نمی)/u,
  },
  hindi: {
    frequentWords: null,
    failed:
      /(?:डिलीवर|डिलीवरी|वितरित|वितरण|भेजा|भेजने|पहुंचाया|पहुँचाया)(?: \S+){0,5} (?:नहीं|विफल|असफल)|(?:प्राप्तकर्ता|उपयोगकर्ता|पता)(?: \S+){0,3} (?:मौजूद नहीं|नहीं मिला)/u,
    delayed: /विलंब|देरी|अभी तक(?: \S+){0,4} नहीं|(?:फिर से|दोबारा|पुनः)(?: \S+){0,3} (?:प्रयास|कोशिश)/u,
    givenUp: /स्थायी|अब और(?: \S+){0,3} नहीं/u,
  },
};
