/** The sample audience as a CSV file, with three invalid rows and one duplicate. */

export const people = 1_500;
/** How many people match the demo's segment. */
const customers = 1_000;

const firstNames = ["Ada", "Björn", "Chiara", "Deniz", "Eve", "Farid", "Grace", "Hồng", "Inês", "Jun"];
const cities = ["Berlin", "Lisboa", "Nairobi", "Ōsaka", "Paris", "São Paulo"];
const domains = ["example.com", "example.net", "example.org", "mail.example"];

/**
 * The tags that make the local inbox refuse some addresses (delivery/capture/simulated-replies.ts): of the customers 25
 * do not exist, 10 have a full mailbox, and 8 are deferred.
 */
function steering(at: number): string {
  if (at % 40 === 7) return "+bounce";
  if (at % 100 === 11) return "+full";
  return at % 125 === 3 ? "+later" : "";
}

export function sampleCsv(): string {
  const rows = Array.from({ length: people }, (_, at) => {
    const email = `person${at}${steering(at)}@${domains[at % domains.length]}`;
    const plan = at < customers ? "pro" : "free";
    return `${email},${firstNames[at % firstNames.length]},${cities[at % cities.length]},${plan}`;
  });
  const broken = [
    "nobody at example.com,No,Berlin,pro",
    ",Nameless,Paris,free",
    "x@@example.com,X,Paris,pro",
  ];
  return ["Email,First,City,Plan", ...broken, ...rows, rows[0], ""].join("\n");
}
