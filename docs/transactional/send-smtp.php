<?php
// php send-smtp.php ada@example.com 1042      (composer require symfony/mailer)
require 'vendor/autoload.php';

use Symfony\Component\Mailer\Exception\TransportExceptionInterface;
use Symfony\Component\Mailer\Transport;
use Symfony\Component\Mime\Address;
use Symfony\Component\Mime\Email;

[, $to, $order] = $argv;
$host = getenv('SMTP_HOST') ?: 'localhost';
$port = getenv('SMTP_PORT') ?: '587';
$key = urlencode(getenv('POSTHASTE_KEY'));

$mail = (new Email())
    ->from(new Address('orders@example.org', 'The Shop'))
    ->to($to)
    ->subject("Your order $order")
    ->text('It is on its way.')
    ->html('<p>It is on its way.</p>');

try {
    $sent = Transport::fromDsn("smtp://api:$key@$host:$port?require_tls=true")->send($mail);
    echo $sent->getMessageId(), "\n";
} catch (TransportExceptionInterface $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    // The code is the server's reply. 5xx: refused for good. Everything else is worth another attempt in some minutes.
    exit($error->getCode() >= 500 ? 1 : 75);
}
