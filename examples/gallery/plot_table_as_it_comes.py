"""
A table as it comes
===================

Prices with a currency, dates, cells that say nothing, labels in two spellings:
`TableClassifier` reads what a person would read, learns from it, and reads new rows in
the same way.

In the guide: :doc:`/guide/tables`.
"""

# %%
# Orders of a shop. Late are those that are expensive or were ordered in the weeks
# before Christmas; how they were paid has nothing to do with it.

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from granulearn import TableClassifier

plt.style.use("granulearn.bench.style")
random = np.random.default_rng(0)
N_ORDERS = 800
price = random.gamma(2, 150, N_ORDERS)
day = random.integers(0, 92, N_ORDERS)
is_late = (price > 400) | ((day > 70) & (day < 85))


def dates(days):
    return pd.Timestamp("2024-10-01") + pd.to_timedelta(days, unit="D")


def as_written(prices, days):
    """Return columns as somebody has typed them."""
    euros = [f"{value:.2f} €".replace(".", ",") for value in prices]
    return pd.DataFrame({"price": euros, "ordered": dates(days).strftime("%d.%m.%Y")})


orders = as_written(price, day)
orders.insert(0, "order", [f"A-{10_000 + number}" for number in range(N_ORDERS)])
orders.loc[random.random(N_ORDERS) < 0.05, "price"] = "n/a"
orders["paid by"] = random.choice(["card", "invoice", "-"], N_ORDERS, p=[0.6, 0.3, 0.1])
orders["late"] = np.where(is_late, random.choice(["yes", "Yes "], N_ORDERS), "no")
orders.head()

# %%
# Nothing is prepared by hand; the numbers of the orders are ignored. How each column
# was understood can be asked for.

train, test = orders[:500], orders[500:]
model = TableClassifier(ignore=["order"], random_state=0).fit(train, "late")
pd.DataFrame(
    {
        column.name: {
            "type": column.type,
            "unit": column.number.unit,
            "dropped as": column.dropped,
            "missing": ", ".join(column.missing),
        }
        for column in model.schema_.columns
    }
).T

# %%
# Did it find the two rules? New orders go in as they would be typed, too. The colour is
# the probability of being late; dots are orders that it has not seen.

days, prices = np.meshgrid(np.arange(92), np.linspace(5, 1000, 40))
rows = as_written(prices.ravel(), days.ravel()).assign(**{"paid by": "card"})
late = model.predict_proba(rows)[:, list(model.classes_).index("yes")]

true = np.where(is_late[500:], "yes", "no")
accuracy = np.mean(model.predict(test) == true)

figure, ax = plt.subplots(figsize=(8, 4.4))
levels = np.linspace(0, 1, 11)
mesh = ax.contourf(
    dates(days[0]), prices[:, 0], late.reshape(days.shape), levels, cmap="PuOr"
)
for name, mark, color in (("no", "o", "#b35806"), ("yes", "^", "#542788")):
    part = test.index[true == name]
    look = {"color": color, "markeredgecolor": "white", "markeredgewidth": 0.7}
    ax.plot(dates(day[part]), price[part], mark, label=name, **look)
ax.xaxis.set_major_formatter(mdates.DateFormatter("%d %b"))
ax.set(xlabel="ordered", ylabel="price, €", ylim=(5, 1000))
ax.set_title(f"{accuracy:.1%} of the new orders are predicted right")
ax.legend(title="late", loc="upper left", frameon=True)
figure.colorbar(mesh, label="probability of being late")
plt.show()
