<?php
// php send-http.php ada@example.com 1042      (needs the extension curl)
const PAUSES = [1, 5, 30];
const TEMPORARY = [0, 409, 429, 502, 503, 504]; // 0: no answer

/** Sends a mail and returns its id. Under one Idempotency-Key it is sent once, however often it is asked for. */
function send(array $mail, string $idempotencyKey): string
{
    $call = curl_init((getenv('POSTHASTE_URL') ?: 'http://127.0.0.1:8080') . '/api/v1/emails/send');
    curl_setopt_array($call, [
        CURLOPT_POSTFIELDS => json_encode($mail, JSON_THROW_ON_ERROR),
        CURLOPT_HTTPHEADER => [
            'X-API-Key: ' . getenv('POSTHASTE_KEY'),
            'Content-Type: application/json',
            "Idempotency-Key: $idempotencyKey",
        ],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
    ]);
    foreach ([...PAUSES, null] as $pause) {
        $answer = curl_exec($call);
        $status = curl_getinfo($call, CURLINFO_RESPONSE_CODE);
        if ($answer !== false && $status < 300) {
            return json_decode($answer, true, 512, JSON_THROW_ON_ERROR)['data']['id'];
        }
        // Without an answer the mail may have been accepted: the same key keeps it from being sent twice.
        if (!in_array($status, TEMPORARY, true) || $pause === null) {
            throw new RuntimeException($answer === false ? curl_error($call) : $answer);
        }
        sleep($pause);
    }
}

[, $to, $order] = $argv;
$mail = [
    'from_email' => 'orders@example.org',
    'from_name' => 'The Shop',
    'to' => $to,
    'subject' => "Your order $order",
    'body' => '<p>It is on its way.</p>',
];
echo send($mail, "order-$order"), "\n";
