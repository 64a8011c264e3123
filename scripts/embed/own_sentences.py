"""Sentences of our own: the kind of thing that people and agents ask to be remembered, or ask for."""
import itertools

PEOPLE = """Alice|Bob|Carol|Dimitri|Elena|Farid|Grace|Hiro|Ingrid|Jamal|Karin|Luis|Maya|Nikolai|Olivia|Priya|my manager|my sister|my brother|our tech lead|the new hire|the customer|the vendor|the intern|the security team|the data team|the platform team|my daughter|my neighbour|the product owner""".split("|")
PARTS = """the billing service|the checkout page|the search index|the login flow|the mobile app|the staging cluster|the build pipeline|the message queue|the admin dashboard|the export job|the cache layer|the public API|the websocket gateway|the parser|the test suite|the migration script|the configuration loader|the logging library|the docker image|the data warehouse|the recommendation engine|the notification worker|the file uploader|the rate limiter|the memory store|the command line tool|the editor plugin|the release branch|the load balancer|the permission check""".split("|")
DEFECTS = """crashes when the input is empty|times out under heavy load|leaks file descriptors|returns stale results after an update|ignores the timezone|fails on Windows paths with spaces|retries forever when the server is down|loses messages during a restart|uses too much memory with large files|is slow because it scans the whole table|shows the wrong total when a discount applies|breaks if two users edit at once|logs the password in plain text|rejects valid email addresses|sorts names with accents wrongly|drops the last line of the file|deadlocks when the pool is exhausted|returns an error instead of an empty list|double counts cancelled orders|does not work behind a proxy""".split("|")
RULES = """write tests before fixing a bug|never commit secrets to the repository|keep functions short and name them well|squash commits before merging|ask before deleting any file|prefer composition over inheritance|use spaces for indentation|document every public function|run the linter before pushing|answer in short sentences without lists|do not add dependencies without asking|use snake case for database columns|put configuration in environment variables|return early instead of nesting conditions|validate input at the boundary|use transactions for every multi step change|pin the versions of all dependencies|explain the reason in the commit message|avoid global state|show dates in ISO format""".split("|")
CHOICES = """Postgres over MySQL|Rust over Go|GraphQL over REST|a monorepo over many repositories|Kubernetes over plain virtual machines|server rendering over a single page app|feature flags over long lived branches|tokens over session cookies|a message broker over polling|SQLite over a separate database server|weekly releases over continuous deployment|Terraform over clicking in the console|integration tests over mocks|structured logs over plain text|an in house parser over a generated one|pagination by cursor over offsets|Markdown over a rich text editor|UUIDs over sequential ids|a paid plan over self hosting|email over chat for incidents""".split("|")
REASONS = """it is cheaper to run|the team already knows it|it scales without extra work|the licence allows it|it is easier to test|customers asked for it|the old one is no longer maintained|it starts faster|it needs less memory|the auditors require it|it works offline|it avoids vendor lock in""".split("|")
TIMES = """yesterday|last Monday|on Friday afternoon|two weeks ago|in early March|next Tuesday|at the end of the quarter|this morning|every Wednesday|in 2023|before the holidays|after the summer""".split("|")
LIFE = """went hiking in the mountains|adopted a small grey cat|started learning the violin|moved to a flat near the station|is allergic to peanuts|ran a half marathon|planted tomatoes on the balcony|broke an arm while skiing|is reading a novel about a lighthouse keeper|cooked a vegetable curry for friends|booked a trip to Portugal|painted the living room green|joined a pottery class|sold the old car|is expecting a baby|visited the science museum|got a promotion|lost a wallet on the train|celebrates a birthday|prefers tea over coffee|cannot sleep because of the noise|wants to become a nurse|watched a documentary about whales|volunteers at the animal shelter|had a long talk with an old friend|baked bread for the first time|fixed the bicycle|forgot the umbrella at the office|is training for a triathlon|wrote a poem about autumn""".split("|")
FEELINGS = """and felt proud|and was very tired afterwards|and enjoyed it a lot|but it was more expensive than expected|and wants to do it again|although the weather was bad|and took many pictures|with a group of friends|and is still nervous about it|which was a big surprise""".split("|")
PLACES = """the config directory|the wiki|the shared drive|the secrets manager|the readme|the second drawer|the operations handbook|the issue tracker|the main branch|the backup bucket""".split("|")
OBJECTS = """the API keys|the deployment checklist|the design document|the customer list|the meeting notes|the error codes|the SSL certificates|the onboarding guide|the test fixtures|the spare laptop|the invoices|the release calendar""".split("|")


def own_sentences():
    every = itertools.product
    for part, defect in every(PARTS, DEFECTS):
        yield f"{part[0].upper()}{part[1:]} {defect}."
        yield f"Why does it happen that {part} {defect}?"
    for person, part in every(PEOPLE, PARTS):
        yield f"{person} is responsible for {part}"
        yield f"who maintains {part}, is it {person}?"
        yield f"{person} asked when {part} will be fixed"
        yield f"{person} rewrote {part} {TIMES[(len(person) * 7 + len(part)) % len(TIMES)]}"
    for person, rule in every(PEOPLE, RULES):
        yield f"{person} told us to {rule}"
        yield f"Does {person} want us to {rule}?"
    for rule in RULES:
        yield from (f"Always remember to {rule}.", f"Please {rule}.", f"The convention here is to {rule}.", f"In this project we {rule}.")
    for choice, reason in every(CHOICES, REASONS):
        better, worse = choice.split(" over ")
        yield f"We decided on {choice} because {reason}."
        yield f"The decision was to use {better} instead of {worse}, since {reason}."
        yield f"Why did we pick {better} and reject {worse}?"
    for person, act in every(PEOPLE, LIFE):
        time = TIMES[(len(person) + 3 * len(act)) % len(TIMES)]
        yield f"{person} {act} {time}"
        yield f"{person} {act} {FEELINGS[(len(person) * 3 + len(act)) % len(FEELINGS)]}."
        yield f"Did you hear that {person} {act}?"
    for thing, place in every(OBJECTS, PLACES):
        yield f"{thing} are kept in {place}"
        yield f"where can I find {thing}? Look in {place}."
    for thing, person in every(OBJECTS, PEOPLE):
        yield f"{person} moved {thing} to {PLACES[(len(thing) + len(person)) % len(PLACES)]}."
        yield f"ask {person} for access to {thing}"
    for part, time in every(PARTS, TIMES):
        yield f"{part} was deployed {time}"
        yield f"we had an outage of {part} {time} and wrote a report about it"
        yield f"What happened to {part} {time}?"
