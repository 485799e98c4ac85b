"""Questions in scripts without spaces between words."""


def test_the_chunk_that_holds_more_of_a_question_comes_before_a_sentence_that_does(index_of, ask) -> None:
    whole = "泵的保修期是两年。电池可以更换。传感器在仓库里。水管很长。"
    part = "电池很贵。"
    found = ask(index_of({"a.txt": part, "b.txt": whole}), "泵的电池和传感器保修期多长", mode="keyword")
    assert found[0].path == "b.txt"
