/** `npm run package`: makes posthaste-VERSION.tgz in the checkout. */
import { join } from "node:path";
import { makePackage } from "./make-package.ts";

const checkout = join(import.meta.dirname, "..");
process.stdout.write(`${await makePackage(checkout, checkout)}\n`);
