<?php
// Uses the generated PHP client as a program would: argument 1 is its folder, POSTHASTE_URL and _KEY the service.

namespace GuzzleHttp\Psr7 {
    // Guzzle's functions of the time of this generator; newer versions of Guzzle have them as methods.
    if (!function_exists(__NAMESPACE__ . '\build_query')) {
        function build_query(array $parameters): string
        {
            return Query::build($parameters);
        }
        function try_fopen(string $path, string $mode)
        {
            return Utils::tryFopen($path, $mode);
        }
    }
}

namespace {
    error_reporting(E_ALL & ~E_DEPRECATED);
    require 'GuzzleHttp/autoload.php';
    spl_autoload_register(function (string $class) use ($argv): void {
        $file = $argv[1] . '/lib/' . str_replace('\\', '/', substr($class, strlen('Posthaste\\'))) . '.php';
        if (str_starts_with($class, 'Posthaste\\') && is_file($file)) {
            require $file;
        }
        // This generator names the class of a nullable field without its namespace.
        if (!str_contains($class, '\\') && class_exists('Posthaste\\Model\\' . $class)) {
            class_alias('Posthaste\\Model\\' . $class, $class);
        }
    });

    $configuration = (new Posthaste\Configuration())
        ->setHost(getenv('POSTHASTE_URL') . '/api/v1')
        ->setApiKey('X-API-Key', getenv('POSTHASTE_KEY'));
    $http = new GuzzleHttp\Client();

    $keys = (new Posthaste\Api\APIKeysApi($http, $configuration))->listApiKeys()->getData();
    $emails = new Posthaste\Api\TransactionalEmailApi($http, $configuration);
    $email = new Posthaste\Model\Email(['to' => 'ada@example.com', 'subject' => 'From PHP', 'body' => 'Hello']);
    $queued = $emails->sendEmail($email, null, 'php-1')->getData();
    $log = new Posthaste\Api\ReportsAndMessageLogApi($http, $configuration);
    $message = $log->getMessage($queued->getId())->getData();
    $lists = new Posthaste\Api\MailingListsApi($http, $configuration);
    $list = $lists->createMailingList(new Posthaste\Model\NewMailingList(['name' => 'Readers of the PHP client']));
    $subscribers = new Posthaste\Api\SubscribersApi($http, $configuration);
    $job = $subscribers->importSubscribers($list->getData()->getId(), new SplFileObject($argv[2]))->getData();
    try {
        $emails->sendEmail(new Posthaste\Model\Email(['to' => 'nobody', 'subject' => 'Hello', 'body' => 'Hello']));
        $failure = null;
    } catch (Posthaste\ApiException $error) {
        $body = json_decode((string) $error->getResponseBody(), true);
        $failure = [$error->getCode(), $body['code'], $body['details'][0]['field']];
    }

    echo json_encode([
        'keys' => array_map(fn ($key) => $key->getName(), $keys),
        'status' => $queued->getStatus(),
        'subject' => $message->getSubject(),
        'job' => $job->getStatus(),
        'failure' => $failure,
    ]);
}
