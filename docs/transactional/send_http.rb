# ruby send_http.rb ada@example.com 1042
require "json"
require "net/http"

URL = ENV.fetch("POSTHASTE_URL", "http://127.0.0.1:8080")
PAUSES = [1, 5, 30]
TEMPORARY = %w[409 429 502 503 504]

# Sends a mail and returns its id. Under one Idempotency-Key it is sent once, however often it is asked for.
def send_mail(mail, idempotency_key)
  headers = {
    "X-API-Key" => ENV.fetch("POSTHASTE_KEY"),
    "Content-Type" => "application/json",
    "Idempotency-Key" => idempotency_key
  }
  [*PAUSES, nil].each do |pause|
    answer = Net::HTTP.post(URI("#{URL}/api/v1/emails/send"), JSON.generate(mail), headers)
    return JSON.parse(answer.body)["data"]["id"] if answer.is_a?(Net::HTTPSuccess)
    raise answer.body if pause.nil? || !TEMPORARY.include?(answer.code)
    sleep pause
  rescue SystemCallError, IOError, Net::OpenTimeout, Net::ReadTimeout
    # The mail may have been accepted: the same key keeps it from being sent twice.
    raise if pause.nil?
    sleep pause
  end
end

to, order = ARGV
mail = {
  from_email: "orders@example.org",
  from_name: "The Shop",
  to: to,
  subject: "Your order #{order}",
  body: "<p>It is on its way.</p>"
}
puts send_mail(mail, "order-#{order}")
