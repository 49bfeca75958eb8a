/** Realistic mails: of a shop, a newsletter program, a mail client, a word processor. */

import { expect, test } from "vitest";
import { looksLikeHtml, textFromHtml } from "./body-conversion.ts";

test("a receipt shows its words and amounts, without the preview text", () => {
  expect(
    textFromHtml(`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
  <meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />
  <title>Receipt 2031</title>
  <style type="text/css">
    @media only screen and (max-width: 600px) { .body > td { width: 100% !important; } }
  </style>
  <!--[if mso]><style>.f { font-family: Arial, sans-serif; }</style><![endif]-->
</head>
<body style="margin:0;background-color:#f4f4f7">
<span style="display:none !important;visibility:hidden;mso-hide:all;max-height:0;overflow:hidden">Your receipt from
Lamp &amp; Shade.&nbsp;&zwnj;&nbsp;&zwnj;</span>
<table width="100%" cellpadding="0" cellspacing="0" role="presentation"><tr><td align="center">
  <table width="570" cellpadding="0" cellspacing="0" role="presentation">
    <tr><td><a href="https://lamps.example/"><img src="https://lamps.example/logo.png" width="120" alt="Lamp &amp; Shade" /></a></td></tr>
    <tr><td>
      <h1>Hi Ada,</h1>
      <p>Thank you for your order. The amount will appear as &ldquo;LAMPSHADE&rdquo; on your statement. Need to
        <a href="https://lamps.example/billing?u=7&amp;t=x">update your billing information</a>?</p>
      <table width="100%" cellpadding="0" cellspacing="0">
        <tr><th align="left"><p>Description</p></th><th align="right"><p>Amount</p></th></tr>
        <tr><td width="80%"><span>Desk lamp &mdash; green</span></td><td align="right"><span>&euro;18.00</span></td></tr>
        <tr><td width="80%"><span>Bulb, 2&times;</span></td><td align="right"><span>&euro;4.50</span></td></tr>
        <tr><td><p>Total</p></td><td><p><strong>&euro;22.50</strong></p></td></tr>
      </table>
      <table align="center" role="presentation"><tr><td bgcolor="#3869d4"><a href="https://lamps.example/r/2031.pdf"
        style="display:inline-block;color:#fff">Download as PDF</a></td></tr></table>
      <p>Cheers,<br />The lamp people</p>
    </td></tr>
    <tr><td align="center"><p>&copy; 2024 Lamp &amp; Shade<br />1 Street Rd.<br />
      <a href="mailto:help@lamps.example">help@lamps.example</a></p></td></tr>
  </table>
</td></tr></table>
<img src="https://t.lamps.example/o/1.gif" width="1" height="1" alt="" />
</body>
</html>`),
  ).toBe(`Lamp & Shade <https://lamps.example/>

Hi Ada,

Thank you for your order. The amount will appear as “LAMPSHADE” on your statement. Need to update your billing information <https://lamps.example/billing?u=7&t=x>?

Description Amount

Desk lamp — green €18.00
Bulb, 2× €4.50

Total €22.50

Download as PDF <https://lamps.example/r/2031.pdf>

Cheers,
The lamp people

© 2024 Lamp & Shade
1 Street Rd.
help@lamps.example`);
});

test("a newsletter shows its stories, buttons and footer, and nothing for Outlook alone", () => {
  expect(
    textFromHtml(`<!doctype html>
<html lang="en" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<!--[if gte mso 15]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->
<title>*|MC:SUBJECT|*</title>
<style>img{border:0}@media (max-width:480px){.two{width:100%!important}}</style>
</head>
<body>
<div class="mcnPreviewText" style="display:none; font-size:0px; line-height:0px; max-height:0px; overflow:hidden">The
garden in May &#847; &zwnj; &nbsp; &#8199; &shy; &#847; &zwnj; &nbsp;</div>
<center>
<!--[if (gte mso 9)|(IE)]><table align="center" width="600"><tr><td><![endif]-->
<table class="two" width="600" border="0"><tbody>
<tr><td><a href="{{view_in_browser_url}}">View in browser</a></td></tr>
<tr><td><h1 style="text-transform:uppercase">The garden<br>in May</h1></td></tr>
<tr><td>
  <p>Hello {{first_name | default: "gardener"}},</p>
  <p>May is <em>the</em> month for&nbsp;<strong>beans</strong>. This issue:</p>
  <ul><li>what to sow</li><li>what to <a href="https://garden.example/prune">prune</a></li>
  <li>what to leave<ol><li>the moss</li><li>the moles</li></ol></li></ul>
</td></tr>
<tr><td>
  <table width="290" align="left"><tr><td><img src="beans.jpg" alt="Beans on a pole" width="290"></td></tr>
    <tr><td><h2>Beans</h2><div>Sow them by the 15th.</div></td></tr></table>
  <table width="290" align="right"><tr><td><img src="moss.jpg" width="290"></td></tr>
    <tr><td><h2>Moss</h2><div>Leave it. It <q>likes</q> you.</div></td></tr></table>
</td></tr>
<tr><td align="center">
  <!--[if mso]><v:roundrect href="https://garden.example/shop" style="height:40px"><center>Outlook only</center></v:roundrect><![endif]-->
  <!--[if !mso]><!-- --><a href="https://garden.example/shop" style="padding:12px 18px"><span>Order seeds</span> &rarr;</a><!-- <![endif]-->
</td></tr>
<tr><td><hr></td></tr>
<tr><td>
  <a href="https://social.example/garden"><img src="s.png" alt="Social"></a><a href="https://video.example/garden"><img src="v.png"></a>
  <div>You get this because you asked for it. <a href="{{unsubscribe_url}}">Unsubscribe</a> or read it at
  <a href="https://garden.example/may/">https://garden.example/may</a>.</div>
</td></tr>
</tbody></table>
<!--[if (gte mso 9)|(IE)]></td></tr></table><![endif]-->
</center></body></html>`),
  ).toBe(`View in browser <{{view_in_browser_url}}>

The garden
in May

Hello {{first_name | default: "gardener"}},

May is the month for beans. This issue:

- what to sow
- what to prune <https://garden.example/prune>
- what to leave
  1. the moss
  2. the moles

Beans on a pole

Beans

Sow them by the 15th.

Moss

Leave it. It likes you.

Order seeds → <https://garden.example/shop>

----------------------------------------

Social <https://social.example/garden> https://video.example/garden
You get this because you asked for it. Unsubscribe <{{unsubscribe_url}}> or read it at https://garden.example/may.`);
});

test("a reply shows its quotations at any depth", () => {
  expect(
    textFromHtml(`<div dir="ltr">Yes, Thursday is fine.<div><br></div><div>-- <br><div dir="ltr" class="gmail_signature">Ada</div></div></div>
<br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Tue, Bob &lt;<a href="mailto:bob@example.com">bob@example.com</a>&gt; wrote:<br></div>
<blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex"><div dir="ltr"><div>Is Thursday fine?</div><div><br></div><div>Bob</div></div>
<blockquote type="cite"><p>When do we meet?</p><pre>  09:00  too early
  14:00  good</pre></blockquote></blockquote></div>`),
  ).toBe(`Yes, Thursday is fine.

--
Ada

On Tue, Bob <bob@example.com> wrote:

> Is Thursday fine?
>
> Bob
>
> > When do we meet?
> >
> >   09:00  too early
> >   14:00  good`);
});

test("a word processor's document shows its paragraphs", () => {
  expect(
    textFromHtml(`<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w="urn:schemas-microsoft-com:office:word">
<head><meta name=Generator content="Microsoft Word 15"><style><!--
/* Style Definitions */ p.MsoNormal { margin:0cm; font-size:11.0pt; } a:link > span { color:blue; }
--></style><!--[if gte mso 9]><xml><o:shapedefaults v:ext="edit" spidmax="1026"/></xml><![endif]--></head>
<body lang=EN-GB link="#0563C1" vlink="#954F72"><div class=WordSection1>
<p class=MsoNormal>Dear all,<o:p></o:p></p>
<p class=MsoNormal><o:p>&nbsp;</o:p></p>
<p class=MsoNormal><span style='mso-fareast-language:EN-US'>the plan, in short:<o:p></o:p></span></p>
<p class=MsoListParagraph style='text-indent:-18.0pt'><![if !supportLists]><span style='font-family:Symbol'>·<span
style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span><![endif]>measure twice<o:p></o:p></p>
<p class=MsoNormal>See <a href="https://plan.example/q?a=1&amp;b=2">the
plan</a>.&nbsp; It&#8217;s &#150; nearly &#150; done.</p>
</div></body></html>`),
  ).toBe(`Dear all,

the plan, in short:

·   measure twice

See the plan <https://plan.example/q?a=1&b=2>.  It’s – nearly – done.`);
});

test("an application's fragment shows its code and its button", () => {
  const html = `Hi Ada,<br><br>your code is <b>493&#8209;201</b>.<br>
It is valid for 10 minutes.<br><br><a href='https://app.example/confirm?code=493-201&amp;next=%2F' class=button><b>Confirm
your address</b></a><br><br>If that does not work, open<br>https://app.example/confirm?code=493-201&next=%2F`;
  expect(looksLikeHtml(html)).toBe(true);
  expect(textFromHtml(html)).toBe(`Hi Ada,

your code is 493‑201.
It is valid for 10 minutes.

Confirm your address <https://app.example/confirm?code=493-201&next=%2F>

If that does not work, open
https://app.example/confirm?code=493-201&next=%2F`);
});
