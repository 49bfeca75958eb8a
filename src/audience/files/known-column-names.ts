/**
 * The names of the columns for address, names and status: ours, those of other programs, and those in other languages.
 * This is data; column-mapping.ts says which names take precedence.
 */
import { columnKey } from "#platform/csv/find-column.ts";

/** Letters and digits of a name, in lower case and without accents. */
export function headerKey(name: string): string {
  return columnKey(name.normalize("NFKD").replaceAll(/\p{M}/gu, ""));
}

const keys = (names: string) => new Set(names.split(",").map(headerKey));

/** Our names of the columns that every list has. */
export const ownNames = {
  email: keys("email"),
  first_name: keys("first,first name"),
  last_name: keys("last,last name"),
  status: keys("status"),
  source: keys("source"),
} as const;

/** The names in exports of other programs. */
export const otherNames = {
  email: keys(
    "email address,mail,mail address,subscriber email,contact email,user email,customer email,primary email",
  ),
  first_name: keys("given name,forename,fname"),
  last_name: keys("surname,family name,lname"),
  status: keys("subscription status,subscriber status"),
} as const;

/** The names in other languages, and names that few programs use. They have the lowest precedence. */
export const localNames = {
  email: keys(`
    e-mail-adresse,mailadresse,e-mailadres,mailadres,adresse e-mail,adresse email,adresse mail,adresse électronique,courriel,
    adresse courriel,correo,correo electrónico,dirección de correo,dirección de correo electrónico,dirección de email,
    dirección email,indirizzo email,indirizzo e-mail,posta elettronica,indirizzo di posta elettronica,endereço de e-mail,
    endereço de email,correio eletrónico,correio eletrônico,e-post,e-postadress,e-postadresse,epostadress,sähköposti,
    sähköpostiosoite,adres e-mail,adres email,poczta elektroniczna,e-mailová adresa,emailová adresa,e-mail cím,email cím,
    adresă de e-mail,adresa de email,e-posta,e-posta adresi,eposta,электронная почта,адрес электронной почты,эл. почта,почта,
    e-mail адрес,имейл,електронна пошта,адреса електронної пошти,ηλεκτρονική διεύθυνση,διεύθυνση email,メールアドレス,メール,
    eメール,电子邮件,电子邮箱,邮箱,邮件地址,电子邮件地址,電子郵件,電子信箱,이메일,이메일 주소,전자우편,email id,billing email,
    e-mail 1 - value,email 1,e-mail 1`),
  first_name: keys(`
    vorname,rufname,prénom,prénoms,nombre,nombres,nome,primeiro nome,nome próprio,voornaam,förnamn,fornavn,etunimi,imię,jméno,
    křestní jméno,meno,keresztnév,utónév,prenume,isim,adı,имя,ім'я,име,όνομα,名,이름`),
  last_name: keys(`
    nachname,familienname,zuname,nom,nom de famille,apellido,apellidos,cognome,sobrenome,apelido,último nome,achternaam,
    familienaam,efternamn,etternavn,efternavn,sukunimi,nazwisko,příjmení,priezvisko,vezetéknév,nume de familie,soyadı,soyad,
    soyisim,фамилия,прізвище,фамилно име,επώνυμο,姓,苗字,성`),
} as const;

/** Whether a column with this name holds addresses, in any language. */
export function isAddressName(name: string): boolean {
  const key = headerKey(name);
  return ownNames.email.has(key) || otherNames.email.has(key) || localNames.email.has(key);
}
