/** Labels by which Rails applications name time zones; those that are IANA names as well are not repeated. */
export const RAILS_TIME_ZONES: ReadonlySet<string> = new Set(
  `International Date Line West|Midway Island|American Samoa|Hawaii|Alaska|Pacific Time (US & Canada)|Tijuana|
Mountain Time (US & Canada)|Arizona|Chihuahua|Mazatlan|Central Time (US & Canada)|Saskatchewan|Guadalajara|
Mexico City|Monterrey|Central America|Eastern Time (US & Canada)|Indiana (East)|Bogota|Lima|Quito|
Atlantic Time (Canada)|Caracas|La Paz|Santiago|Newfoundland|Brasilia|Buenos Aires|Montevideo|Georgetown|
Puerto Rico|Greenland|Mid-Atlantic|Azores|Cape Verde Is.|Dublin|Edinburgh|Lisbon|London|Casablanca|Monrovia|
Belgrade|Bratislava|Budapest|Ljubljana|Prague|Sarajevo|Skopje|Warsaw|Zagreb|Brussels|Copenhagen|Madrid|Paris|
Amsterdam|Berlin|Bern|Zurich|Rome|Stockholm|Vienna|West Central Africa|Bucharest|Cairo|Helsinki|Kyiv|Riga|Sofia|
Tallinn|Vilnius|Athens|Istanbul|Minsk|Jerusalem|Harare|Pretoria|Kaliningrad|Moscow|St. Petersburg|Volgograd|
Samara|Kuwait|Riyadh|Nairobi|Baghdad|Tehran|Abu Dhabi|Muscat|Baku|Tbilisi|Yerevan|Kabul|Ekaterinburg|Islamabad|
Karachi|Tashkent|Chennai|Kolkata|Mumbai|New Delhi|Kathmandu|Dhaka|Sri Jayawardenepura|Almaty|Astana|Novosibirsk|
Rangoon|Bangkok|Hanoi|Jakarta|Krasnoyarsk|Beijing|Chongqing|Hong Kong|Urumqi|Kuala Lumpur|Singapore|Taipei|Perth|
Irkutsk|Ulaanbaatar|Seoul|Osaka|Sapporo|Tokyo|Yakutsk|Darwin|Adelaide|Canberra|Melbourne|Sydney|Brisbane|Hobart|
Vladivostok|Guam|Port Moresby|Magadan|Srednekolymsk|Solomon Is.|New Caledonia|Fiji|Kamchatka|Marshall Is.|
Auckland|Wellington|Nuku'alofa|Tokelau Is.|Chatham Is.|Samoa`
    .replaceAll('\n', '')
    .split('|'),
);
