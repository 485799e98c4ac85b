"""Words that say nothing by themselves, in the languages of most documents here."""

from __future__ import annotations

# Closed-class words, as written in lower case. Left out: words that carry meaning in another of these languages
# ("war", "die", "hat", "era", "sin", "son", "comment"); they are common enough to weigh little anyway.
_ENGLISH = """
a about after all also am an and any are as at be because been before being between both but by can could did do
does doing don during each few for from further had has have having he her here hers him his how i if in into is
it its itself just let me more most my no nor not of off on once only or other our ours out over own same shall
she should so some such than that the their theirs them then there these they this those through to too under
until up upon very was we were what when where whether which while who whom whose why will with within without
would you your yours d ll m re s t ve
"""
_FRENCH = """
à au aux avec c ce ces cet cette ceux chez comme dans de des du elle elles en est et été être eux il ils j je l la
le les leur leurs lui mais mes n ne nos notre nous on ont ou où par pas pour qu quand que quel quelle quelles
quels qui quoi sa sans se ses si sont sur ta te tes toi tu un une vos votre vous y
"""
_IBERIAN = """
ao aos as às com como da das de dela dele do dos e é ela elas ele eles em entre essa esse esta este eu foi foram
há isso isto já lhe mais mas muito na nas não nem no nos nós o os ou para pela pelas pelo pelos por porque qual
quais quando que quem são se sem ser seu seus sua suas também tem um uma umas uns você
al algo ante con cuál cuáles cuándo cuánto cómo del desde dónde donde el ella ellas ellos es eso esto está están
fue fueron ha han hasta hay la las le les lo los muy más ni nosotros o otra otro para pero por qué quién quiénes
se según ser si sobre su sus también tiene un una unas unos y ya
"""
_OTHERS = """
aber als am auch auf aus bei bin bis das dass dem den der des doch du durch ein eine einem einen einer eines er es
für haben ich ihr ihre im ist kann mit nach nicht noch nur ob oder sein seine sich sie sind über um und uns unter
vom von vor wann warum was wie wir wird wo wurde zu zum zur
aan bij dat deze dit een het hij hoe ik is maar met naar niet of om ook op te uit van voor waar wat we werd wie
zijn che chi ci con cosa da dal dalla degli dei del della delle di e è gli ha ho i il in io la le lo ma mi nel
nella non per perché più quale quali quando quanto questa questo si sono su sul sulla tra un una uno
"""
STOP = frozenset(f"{_ENGLISH} {_FRENCH} {_IBERIAN} {_OTHERS}".split())
