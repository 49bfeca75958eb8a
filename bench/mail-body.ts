/** HTML of a given length that resembles mail: layout table, headings, paragraphs, links, an image. */

const block = `<tr><td style="padding:16px 24px">
<h2 style="font:bold 18px Arial,sans-serif;color:#222222">Your order is on its way</h2>
<p style="font:14px/20px Arial,sans-serif;color:#444444">Hello Ada, we have handed your parcel to the carrier. It weighs
1.2 kg, is insured, and should be with you on Thursday between 9:00 and 12:00. You do not have to be at home.</p>
<p><a href="https://shop.example.com/orders/00000000?lang=en" style="color:#1a73e8">Follow your parcel</a> or
<a href="https://shop.example.com/help">ask us a question</a>.</p>
<img src="https://shop.example.com/parcel.png" alt="A parcel on a bicycle" width="200" height="80">
</td></tr>
`;
const head = `<!doctype html>
<html><head><meta charset="utf-8"><title>Your order</title></head>
<body style="margin:0;background:#f4f4f4"><table width="600" cellpadding="0" cellspacing="0" role="presentation">
`;
const foot = "</table></body></html>\n";

/** Exactly `length` ASCII characters, at least 300. */
export function htmlOfLength(length: number): string {
  const room = length - head.length - foot.length;
  const blocks = Math.floor(room / block.length);
  const rest = room - blocks * block.length;
  return head + block.repeat(blocks) + " ".repeat(rest) + foot;
}
