# ruby send_smtp.rb ada@example.com 1042      (gem install actionmailer)
require "action_mailer"

# In Rails these lines are config.action_mailer.… in config/environments/production.rb.
ActionMailer::Base.raise_delivery_errors = true
ActionMailer::Base.delivery_method = :smtp
ActionMailer::Base.smtp_settings = {
  address: ENV.fetch("SMTP_HOST", "localhost"),
  port: ENV.fetch("SMTP_PORT", "587").to_i,
  user_name: "api",
  password: ENV.fetch("POSTHASTE_KEY"),
  authentication: :plain,
  enable_starttls: true,
  open_timeout: 10,
  read_timeout: 30
}

class OrderMailer < ActionMailer::Base
  default from: "The Shop <orders@example.org>"

  def on_its_way(to, order)
    mail(to: to, subject: "Your order #{order}") do |format|
      format.text { render plain: "It is on its way." }
      format.html { render html: "<p>It is on its way.</p>".html_safe }
    end
  end
end

begin
  puts OrderMailer.on_its_way(*ARGV).deliver_now.message_id
rescue Net::SMTPFatalError, Net::SMTPSyntaxError, Net::SMTPAuthenticationError => error
  # Refused for good. Everything else is worth another attempt in some minutes: in Rails by
  # retry_on and discard_on in the job.
  abort error.message
rescue Net::SMTPServerBusy, Net::OpenTimeout, Net::ReadTimeout, SystemCallError, IOError => error
  warn error.message
  exit 75
end
